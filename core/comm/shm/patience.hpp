#pragma once

#include <chrono>
#include <functional>

#include "core/comm/shm/layout.hpp"

namespace titan::comm::shm {

/// How a thread waits for other ranks: first awake, for they are often there within microseconds, then asleep, until
/// the bell rings.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;
  /// `state`: of the rank that waits. `is_crowded`: others may need this processor to do what is waited for.
  Patience(RankState& state, bool is_crowded) : state_(state), is_crowded_(is_crowded) {}

  /// Something was done: what follows is a new wait.
  void reset();
  /// Waits a little. False: the deadline has passed. Before it sleeps it asks `has_changed` once more.
  bool wait(Clock::time_point deadline, const std::function<bool()>& has_changed);
  /// Whether the wait has taken so long that others may have ended, and that was not asked for a while.
  bool should_look();

 private:
  RankState& state_;
  bool is_crowded_;
  bool has_slept_ = false;
  std::int64_t num_tries_ = 0;
  Clock::time_point begin_, looked_;
};

}  // namespace titan::comm::shm
