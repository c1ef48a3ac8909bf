#pragma once

namespace titan {

/// Seconds of the monotonic clock.
double monotonic_seconds();

}  // namespace titan
