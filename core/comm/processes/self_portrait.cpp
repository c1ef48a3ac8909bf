#include "core/comm/processes/self_portrait.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "core/base/text.hpp"
#include "core/base/thread_stack.hpp"
#include "core/comm/description.hpp"
#include "core/comm/timed_work.hpp"
#include "titan/abi/observer.h"

namespace titan::comm {
namespace {

// Others wait for the answer.
constexpr auto kStackTime = std::chrono::milliseconds(300);
constexpr std::size_t kFunctions = 8;

}  // namespace

SelfPortrait::SelfPortrait(std::int64_t rank)
    : training_thread_(static_cast<pid_t>(::syscall(SYS_gettid))), calls_(rank) {
  enable_thread_stacks();
}

void SelfPortrait::introduce(std::shared_ptr<WitnessStand> stand) {
  const std::lock_guard lock(mutex_);
  stand_ = std::move(stand);
}

void SelfPortrait::set_waits(const WorkRecord* record) {
  const std::lock_guard lock(mutex_);
  record_ = record;
}

void SelfPortrait::set_opens(std::string group) {
  const std::lock_guard lock(mutex_);
  opens_ = std::move(group);
}

std::string SelfPortrait::waits() const {
  const std::lock_guard lock(mutex_);
  if (record_ == nullptr) return opens_;
  return concat(describe(*record_), ", so far ", seconds_text(monotonic_nanoseconds() - record_->created));
}

std::shared_ptr<WitnessStand> SelfPortrait::stand() const {
  const std::lock_guard lock(mutex_);
  return stand_;
}

Answer SelfPortrait::answer() const {
  Answer answer;
  if (const auto witness = stand()) answer.place = witness->place();
  answer.waits = waits();
  if (answer.waits.empty()) answer.stack = stack_text(stack_of(training_thread_, kStackTime), kFunctions);
  answer.history = calls_.history();
  return answer;
}

void SelfPortrait::report(std::int32_t cause, std::string_view reason) const noexcept {
  if (const auto witness = stand()) witness->report(cause, reason);
}

void SelfPortrait::post(std::int32_t cause, std::string_view reason) const noexcept {
  if (const auto witness = stand()) witness->post(cause, reason);
}

void SelfPortrait::report_last(std::int32_t cause, std::string_view reason) const noexcept {
  if (const auto witness = stand()) witness->report_last(cause, reason);
}

void SelfPortrait::claim(std::int32_t cause) const noexcept {
  if (const auto witness = stand()) witness->claim(cause);
}

std::int32_t SelfPortrait::cause() const noexcept {
  const auto witness = stand();
  const std::int32_t known = witness ? witness->cause() : 0;
  return known != 0 ? known : TITAN_DUMP_ERROR;
}

}  // namespace titan::comm
