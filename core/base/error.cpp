#include "core/base/error.hpp"

#include <cstring>

namespace titan {

namespace {

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  return abbreviation != nullptr ? concat("SIG", abbreviation) : concat("signal ", signal);
}

}  // namespace

Interrupted::Interrupted(int signal)
    : std::runtime_error(concat("stopped on request: ", signal_name(signal))), signal_(signal) {}

}  // namespace titan
