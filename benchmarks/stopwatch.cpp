#include "benchmarks/stopwatch.hpp"

#include <ctime>

#include "core/base/clock.hpp"

namespace titan::benchmark {

double now(Time time) {
  if (time == Time::wall) return monotonic_seconds();
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

}  // namespace titan::benchmark
