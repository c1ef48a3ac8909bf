#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/rehearsal.hpp"

namespace titan::rehearsal {

/// What must be equal on all sides of a call, as a text: equal texts, equal calls. The two sides of a transfer have the
/// same; the ranks of an all-to-all may have different numbers of rows.
std::string signature_of(const RehearsedCall& call);

/// "all_reduce of Float [4]", "barrier".
std::string call_text(const RehearsedCall& call);

/// "rank 2", "ranks 0-3, 7"; a long list is cut.
std::string ranks_text(const std::vector<std::int64_t>& ranks);

/// ", for layers.3", or nothing where no module is known.
std::string module_text(const std::string& module);

}  // namespace titan::rehearsal
