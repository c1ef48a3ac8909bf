#pragma once

namespace titan {

/// Seconds of the monotonic clock.
double monotonic_seconds();

/// Seconds since this process was started by the kernel.
double seconds_since_process_start();

}  // namespace titan
