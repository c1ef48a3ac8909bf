#pragma once

#include <string>
#include <vector>

#include "core/rehearsal/hardware.hpp"

namespace titan::rehearsal {

/// What an estimate computes how, with the hardware's figures: a line each.
std::vector<std::string> formulas(const Hardware& hardware);

}  // namespace titan::rehearsal
