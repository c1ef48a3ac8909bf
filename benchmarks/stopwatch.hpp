#pragma once

#include <cstdint>

namespace titan::benchmark {

/// What seconds are: of the clock on the wall, or of this process' processors, which neighbours on the machine take
/// less from; the latter means something with one thread alone.
enum class Time : std::uint8_t { wall, processor };

/// Seconds since some moment.
double now(Time time);

}  // namespace titan::benchmark
