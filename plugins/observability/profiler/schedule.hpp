#pragma once

#include <cstdint>

namespace titan::observability {

/// What the profiler does during a step.
enum class ProfilerAction { none, warmup, record, record_and_save };

/// When a step is recorded: torch.profiler.schedule.
struct ProfilerSchedule {
  std::int64_t wait = 6;
  std::int64_t warmup = 3;
  std::int64_t active = 1;
  std::int64_t repeat = 0;           // cycles; 0: as many as there are
  std::int64_t skip_first = 0;       // steps before the first cycle
  std::int64_t skip_first_wait = 0;  // not 0: the first cycle has no wait

  std::int64_t cycle() const { return wait + warmup + active; }
  /// `step` is counted from 0.
  ProfilerAction at(std::int64_t step) const;
};

}  // namespace titan::observability
