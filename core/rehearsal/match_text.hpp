#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rehearsal/match.hpp"

namespace titan::rehearsal {

/// Where the modules of two rows of calls begin to differ, before the calls do.
struct ModuleSplit {
  std::uint64_t number = 0;  // from 1; 0: nowhere
  std::string first, second;
};

/// The line of a collective that differs. `num_calls`: what the side without such a call makes there.
std::string collective_text(const Mismatch& found, const std::string& group, const std::vector<std::int64_t>& members,
                            std::uint64_t num_calls, const ModuleSplit& split);
/// The line of a send (the first side) and a receive that do not meet.
std::string transfer_text(const Mismatch& found, const std::string& group);

}  // namespace titan::rehearsal
