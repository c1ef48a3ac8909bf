#include "core/base/position.hpp"

#include <array>
#include <exception>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/text.hpp"

namespace titan {
namespace {

constexpr std::array<std::string_view, 15> kPhaseNames{"start",      "join", "build",   "init",     "load",
                                                       "step",       "data", "forward", "backward", "optimizer",
                                                       "validation", "save", "hold",    "replay",   "end"};

Position*& current() {
  thread_local Position* instance = nullptr;
  return instance;
}

}  // namespace

void Position::name_modules(std::vector<std::string> names) {
  if (is_named_.load()) return;
  names_ = std::move(names);
  is_named_.store(true, std::memory_order_release);
}

std::string_view Position::module_name(std::uint32_t number) const {
  if (!is_named_.load(std::memory_order_acquire) || number >= names_.size()) return {};
  return names_[number];
}

titan_place Position::place() const {
  titan_place out{};
  out.struct_size = sizeof out;
  out.phase = phase.load(std::memory_order_relaxed);
  out.step = step.load(std::memory_order_relaxed);
  out.micro_batch = micro_batch.load(std::memory_order_relaxed);
  out.stage = stage.load(std::memory_order_relaxed);
  out.module = module.load(std::memory_order_relaxed);
  const std::string_view name = module_name(out.module);
  out.module_name = {name.data(), name.size()};
  return out;
}

std::string Position::describe() const {
  titan_place now = place();
  if (const std::int32_t failed = failed_phase.load(std::memory_order_relaxed); failed >= 0) {
    now.phase = failed;
    now.micro_batch = failed_micro_batch.load(std::memory_order_relaxed);
  }
  std::vector<std::string> parts;
  if (now.step > 0) parts.push_back(concat("step ", now.step));
  if (now.micro_batch >= 0) parts.push_back(concat("micro-batch ", now.micro_batch));
  if (now.phase != TITAN_IN_STEP) parts.emplace_back(phase_name(now.phase));
  if (now.module_name.size > 0) {
    parts.push_back(concat("in ", std::string_view(now.module_name.data, now.module_name.size)));
  }
  return join(parts, ", ");
}

std::string_view phase_name(std::int32_t phase) {
  const auto index = static_cast<std::size_t>(phase);
  return index < kPhaseNames.size() ? kPhaseNames[index] : "nowhere";
}

Position* current_position() { return current(); }

PositionScope::PositionScope(Position* position) : before_(std::exchange(current(), position)) {}
PositionScope::~PositionScope() { current() = before_; }

PhaseScope::PhaseScope(std::int32_t phase, std::int32_t micro_batch, std::uint32_t stage)
    : position_(current_position()), num_exceptions_(std::uncaught_exceptions()), phase_(phase) {
  if (position_ == nullptr) return;
  phase_before_ = position_->phase.exchange(phase, std::memory_order_relaxed);
  micro_batch_before_ = position_->micro_batch.exchange(micro_batch, std::memory_order_relaxed);
  stage_before_ = position_->stage.exchange(stage, std::memory_order_relaxed);
  position_->failed_phase.store(-1, std::memory_order_relaxed);
  tell(false);
}

PhaseScope::~PhaseScope() {
  if (position_ == nullptr) return;
  tell(true);
  if (std::uncaught_exceptions() > num_exceptions_ && position_->failed_phase.load(std::memory_order_relaxed) < 0) {
    position_->failed_micro_batch.store(position_->micro_batch.load(std::memory_order_relaxed),
                                        std::memory_order_relaxed);
    position_->failed_phase.store(phase_, std::memory_order_relaxed);
  }
  position_->phase.store(phase_before_, std::memory_order_relaxed);
  position_->micro_batch.store(micro_batch_before_, std::memory_order_relaxed);
  position_->stage.store(stage_before_, std::memory_order_relaxed);
}

void PhaseScope::tell(bool is_end) const {
  if (!position_->on_span) return;
  titan_span_event event{};
  event.struct_size = sizeof event;
  event.phase = phase_;
  event.is_end = is_end ? 1 : 0;
  event.micro_batch = position_->micro_batch.load(std::memory_order_relaxed);
  event.step = position_->step.load(std::memory_order_relaxed);
  event.stage = position_->stage.load(std::memory_order_relaxed);
  event.time = monotonic_seconds();
  if (is_end && !detail_.empty()) event.detail = {detail_.data(), detail_.size()};
  position_->on_span(event);
}

}  // namespace titan
