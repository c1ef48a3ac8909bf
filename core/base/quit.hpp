#pragma once

#include <string>

#include "core/base/error.hpp"
#include "titan/abi/base.h"

namespace titan {

/// Somebody at a prompt of one rank ends the run at once: unlike a stop that was asked for by a signal it is not agreed
/// with the other ranks, and nothing is saved. Leads to the exit code of Ctrl-C.
class Quit : public Interrupted {
 public:
  explicit Quit(const std::string& message) : Interrupted(TITAN_ERROR_QUIT - 128, message) {}
};

}  // namespace titan
