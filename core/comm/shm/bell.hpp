#pragma once

#include <chrono>

#include "core/comm/shm/layout.hpp"

namespace titan::comm::shm {

/// Wakes the threads of a rank that sleep. Call after a counter was changed that they may wait for; counters and what
/// is here are sequentially consistent, so either the sleeper sees the change or it is seen sleeping.
void ring(RankState& state);

/// A thread of a rank that is about to sleep: from here on it misses nothing.
class Sleeper {
 public:
  explicit Sleeper(RankState& state);
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Sleeps until somebody has rung since the sleeper was made, or for so long; may return early.
  void sleep(std::chrono::nanoseconds limit);

 private:
  RankState& state_;
  std::uint32_t heard_;
};

/// Says to the processor that this thread waits in a loop.
void pause_briefly();

}  // namespace titan::comm::shm
