#include "plugins/observability/profiler/schedule.hpp"

namespace titan::observability {

ProfilerAction ProfilerSchedule::at(std::int64_t step) const {
  if (step < skip_first) return ProfilerAction::none;
  step -= skip_first;
  if (skip_first_wait != 0) step += wait;
  if (repeat > 0 && step / cycle() >= repeat) return ProfilerAction::none;
  const std::int64_t place = step % cycle();
  if (place < wait) return ProfilerAction::none;
  if (place < wait + warmup) return ProfilerAction::warmup;
  return place < cycle() - 1 ? ProfilerAction::record : ProfilerAction::record_and_save;
}

}  // namespace titan::observability
