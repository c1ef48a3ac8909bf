#include "core/base/stop.hpp"

#include "core/base/error.hpp"

namespace titan {

void StopFlag::check() const {
  if (const int signal = requested(); signal != 0) throw Interrupted(signal);
}

}  // namespace titan
