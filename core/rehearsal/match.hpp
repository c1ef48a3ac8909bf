#pragma once

#include <string>
#include <vector>

#include "core/config/rehearsal.hpp"

namespace titan::rehearsal {

/// A call that its group does not make together.
struct Mismatch {
  std::string text;  // names both ranks, their modules and calls
};

/// Holds the calls of all ranks of a rehearsal against each other.
std::vector<Mismatch> match(const RehearsalReport& report);

}  // namespace titan::rehearsal
