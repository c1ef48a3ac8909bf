#include "core/train/rehearsal/memory_kinds.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/text.hpp"

namespace titan::train {
namespace {

enum Kind : std::uint8_t {
  kParameter,
  kComputeForm,
  kGradient,
  kOptimizerState,
  kBuffer,
  kGathered,
  kCommunication,
  kActivation,
  kOther,
  kNumKinds
};
constexpr std::array<const char*, kNumKinds> kNames = {"parameter",       "compute form", "gradient",
                                                       "optimizer state", "buffer",       "gathered",
                                                       "communication",   "activation",   "other"};

/// Where a block was made, in 64 bits.
struct Tag {
  std::uint8_t phase = 0;
  WorkMeter::Scope scope = WorkMeter::Scope::none;
  std::uint16_t micro_batch = 0;  // plus one; 0: none
  std::uint32_t module = 0;

  std::uint64_t packed() const {
    return (std::uint64_t{phase} << 56) | (std::uint64_t{static_cast<std::uint8_t>(scope)} << 48) |
           (std::uint64_t{micro_batch} << 32) | module;
  }
  static Tag unpacked(std::uint64_t bits) {
    return {static_cast<std::uint8_t>(bits >> 56), static_cast<WorkMeter::Scope>((bits >> 48) & 0xff),
            static_cast<std::uint16_t>(bits >> 32), static_cast<std::uint32_t>(bits)};
  }
};

Kind kind_of(const Tag& tag) {
  if (tag.scope == WorkMeter::Scope::gather) return kGathered;
  if (tag.scope == WorkMeter::Scope::communication) return kCommunication;
  if (tag.scope == WorkMeter::Scope::optimizer) return kOptimizerState;
  return tag.phase == TITAN_IN_FORWARD || tag.phase == TITAN_IN_BACKWARD ? kActivation : kOther;
}

std::string place_text(const Tag& tag, const Position& position) {
  std::string text(phase_name(tag.phase));
  if (tag.micro_batch > 0) text += concat(" of micro-batch ", tag.micro_batch - 1);
  const std::string_view module = position.module_name(tag.module);
  return module.empty() ? text : concat(text, ", ", module);
}

}  // namespace

RankMemory::RankMemory(const WorkMeter& meter) : meter_(meter), memory_(std::make_shared<tensor::ShapeMemory>()) {
  memory_->tag_context = this;
  memory_->tag = [](void* self) { return static_cast<RankMemory*>(self)->tag(); };
}

std::uint64_t RankMemory::tag() const {
  Tag tag;
  tag.scope = meter_.scope();
  if (const Position* position = current_position()) {
    const auto read = [](const auto& value) { return value.load(std::memory_order_relaxed); };
    tag.phase = static_cast<std::uint8_t>(read(position->phase));
    tag.micro_batch = static_cast<std::uint16_t>(read(position->micro_batch) + 1);
    tag.module = read(position->module);
  }
  return tag.packed();
}

void RankMemory::fill(const nn::Tree& tree, const optim::AdamOptimizer& optimizer, RehearsedRank& rank) const {
  const auto& blocks = memory_->blocks();
  std::vector<std::uint8_t> kinds;
  kinds.reserve(blocks.size());
  for (const auto& block : blocks) kinds.push_back(kind_of(Tag::unpacked(block.tag)));
  const auto mark = [&](const at::Tensor& tensor, Kind kind) {
    if (const auto block = memory_->block_of(tensor)) kinds[*block] = kind;
  };
  for (const auto& parameter : tree.parameters()) {
    mark(parameter->compute, kComputeForm);
    mark(parameter->gradient, kGradient);
    mark(parameter->storage, kParameter);
  }
  for (const nn::Buffer* buffer : tree.buffers()) mark(buffer->value, kBuffer);
  for (const auto& group : optimizer.groups()) {
    for (const optim::AdamState& state : group.states) {
      mark(state.exp_avg, kOptimizerState);
      mark(state.exp_avg_sq, kOptimizerState);
    }
  }
  const tensor::ShapeMemory::Peak peak = memory_->peak();
  std::array<std::int64_t, kNumKinds> bytes{};
  for (const std::uint32_t block : peak.live) bytes[kinds[block]] += blocks[block].bytes;
  for (std::size_t kind = 0; kind < kNumKinds; ++kind) {
    if (bytes[kind] > 0) rank.peak_kinds.emplace_back(kNames[kind], bytes[kind]);
  }
  rank.peak_bytes = peak.bytes;
  rank.steady_bytes = memory_->live_bytes();
  if (peak.last && position_ != nullptr) {
    rank.peak_place = place_text(Tag::unpacked(blocks[*peak.last].tag), *position_);
  }
}

}  // namespace titan::train
