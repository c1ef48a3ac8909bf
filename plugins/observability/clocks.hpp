#pragma once

#include <chrono>

namespace titan::observability {

/// Seconds of the monotonic clock, which events are timed by.
inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds since 1970.
inline double epoch_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// What to add to a monotonic time for a date.
inline double epoch_offset() { return epoch_seconds() - monotonic_seconds(); }

}  // namespace titan::observability
