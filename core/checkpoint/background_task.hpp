#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace titan::checkpoint {

/// Runs one action at a time on a thread of its own, on which no signal is handled.
class BackgroundTask {
 public:
  BackgroundTask() = default;
  /// Waits for the action.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  /// Begins; there is no action under way. At low priority others get the processor first. ResourceError.
  void start(std::function<void()> action, bool has_low_priority);
  /// Whether there is no action, or it has ended.
  bool is_done() const;
  /// Waits until it has ended, for so long at most.
  void wait_for(std::chrono::milliseconds limit) const;
  /// Ends the thread of an action that is done, and throws what the action threw.
  void take();

 private:
  std::thread thread_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool is_done_ = true;
  std::exception_ptr error_;
};

}  // namespace titan::checkpoint
