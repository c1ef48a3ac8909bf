#include "plugins/observability/profiler/schedule.hpp"

#include <algorithm>
#include <limits>

namespace titan::observability {
namespace {

/// Numbers of steps are not negative: the sum of two has room.
std::uint64_t wide(std::int64_t steps) { return static_cast<std::uint64_t>(steps); }

}  // namespace

std::uint64_t ProfilerSchedule::place_of(std::int64_t step) const {
  return wide(step - skip_first) + (skip_first_wait != 0 ? wide(wait) : 0);
}

bool ProfilerSchedule::is_over(std::uint64_t place) const {
  return repeat > 0 && place / wide(cycle()) >= wide(repeat);
}

ProfilerAction ProfilerSchedule::at(std::int64_t step) const {
  if (step < skip_first || is_over(place_of(step))) return ProfilerAction::none;
  const std::uint64_t place = place_of(step) % wide(cycle());
  if (place < wide(wait)) return ProfilerAction::none;
  if (place < wide(wait + warmup)) return ProfilerAction::warmup;
  return place < wide(cycle() - 1) ? ProfilerAction::record : ProfilerAction::record_and_save;
}

std::optional<std::int64_t> ProfilerSchedule::first_recorded(std::int64_t step) const {
  step = std::max(step, skip_first);
  const std::uint64_t place = place_of(step), within = place % wide(cycle()), idle = wide(wait + warmup);
  const std::uint64_t more = within < idle ? idle - within : 0;
  if (is_over(place + more) || more > wide(std::numeric_limits<std::int64_t>::max() - step)) return std::nullopt;
  return step + static_cast<std::int64_t>(more);
}

}  // namespace titan::observability
