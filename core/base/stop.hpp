#pragma once

#include <atomic>

namespace titan {

/// Set by the host's signal handler; polled at safe points. One for the process, owned by the host.
class StopFlag {
 public:
  /// Async-signal-safe.
  void request(int signal) noexcept { signal_.store(signal, std::memory_order_relaxed); }
  /// The signal asked for, or 0.
  int requested() const noexcept { return signal_.load(std::memory_order_relaxed); }
  /// Throws Interrupted when a stop was requested.
  void check() const;

 private:
  std::atomic<int> signal_{0};
};

}  // namespace titan
