#pragma once

#include <cstdint>
#include <optional>

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
  /// The first step from `step` on that is recorded, both counted from 0; none: no such step comes.
  std::optional<std::int64_t> first_recorded(std::int64_t step) const;

 private:
  /// Steps from the begin of the first cycle to `step`, which is not skipped.
  std::uint64_t place_of(std::int64_t step) const;
  bool is_over(std::uint64_t place) const;
};

}  // namespace titan::observability
