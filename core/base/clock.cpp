#include "core/base/clock.hpp"

#include <chrono>

namespace titan {

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace titan
