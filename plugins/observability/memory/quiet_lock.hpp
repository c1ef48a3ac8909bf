#pragma once

#include <mutex>

namespace titan::observability {

/// Holds a lock that the report of a shortage needs too: memory that runs out on this thread meanwhile is not reported,
/// as the report would wait for its own thread.
class QuietLock {
 public:
  explicit QuietLock(std::mutex& mutex) : lock_(mutex) { ++depth_; }
  ~QuietLock() { --depth_; }
  QuietLock(const QuietLock&) = delete;
  QuietLock& operator=(const QuietLock&) = delete;

  /// Whether the calling thread holds one.
  static bool is_held() noexcept { return depth_ > 0; }

 private:
  inline static thread_local int depth_ = 0;
  std::lock_guard<std::mutex> lock_;
};

}  // namespace titan::observability
