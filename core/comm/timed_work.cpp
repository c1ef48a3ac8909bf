#include "core/comm/timed_work.hpp"

#include "core/base/error.hpp"
#include "core/comm/description.hpp"

namespace titan::comm {

std::int64_t monotonic_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(TimedWork::Clock::now().time_since_epoch()).count();
}

void TimedWork::begin() {
  const std::lock_guard lock(mutex_);
  if (completed_ || started_ != 0) return;
  started_ = monotonic_nanoseconds();
  if (watcher_) watcher_(WorkState::started, started_);
}

void TimedWork::complete() { end(WorkState::completed, {}); }

void TimedWork::fail(const std::string& text) { end(WorkState::failed, text.empty() ? "unknown error" : text); }

void TimedWork::fail(const std::exception_ptr& error) {
  end(WorkState::failed, error_text(error), comm::is_out_of_memory(error));
}

void TimedWork::end(WorkState state, const std::string& text, bool is_out_of_memory) {
  {
    const std::lock_guard lock(mutex_);
    if (completed_) return;
    completed_ = true;
    failure_ = text;
    is_out_of_memory_ = is_out_of_memory;
    ended_ = monotonic_nanoseconds();
    if (watcher_) watcher_(state, ended_);
  }
  cv_.notify_all();
}

bool TimedWork::wait_until(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return cv_.wait_until(lock, deadline, [&] { return completed_; });
}

std::string TimedWork::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool TimedWork::is_out_of_memory() const {
  const std::lock_guard lock(mutex_);
  return is_out_of_memory_;
}

void TimedWork::watch(Watcher watcher) {
  const std::lock_guard lock(mutex_);
  watcher_ = std::move(watcher);
  if (!watcher_) return;
  if (started_ != 0) watcher_(WorkState::started, started_);
  if (completed_) watcher_(failure_.empty() ? WorkState::completed : WorkState::failed, ended_);
}

bool TimedWork::wait(std::chrono::milliseconds timeout) {
  if (timeout == kNoTimeout) timeout = std::chrono::hours(24 * 365);
  if (!wait_until(Clock::now() + timeout)) throw PeerError("[comm] not done in time: ", timeout.count(), " ms");
  const std::string text = failure();
  if (!text.empty()) throw PeerError("[comm] ", text);
  return true;
}

bool TimedWork::isSuccess() const {
  const std::lock_guard lock(mutex_);
  return completed_ && failure_.empty();
}

}  // namespace titan::comm
