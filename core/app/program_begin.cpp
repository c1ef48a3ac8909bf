#include "core/app/program_begin.hpp"

#include "core/base/clock.hpp"

namespace titan::app {

double program_begin() {
  static const double begin = monotonic_seconds();
  return begin;
}

}  // namespace titan::app
