#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/dump_analysis.hpp"

namespace titan::trace {

/// Says what the dumps come to, in a few lines that end in one of what to do next: which call of which group, who did
/// not come, what it did last and where it is. Every text of the dumps is printable.
std::string verdict(const Dumps& dumps, const Analysis& analysis);

/// One line of a finding: "rank 1 did not reach all_reduce number 4 of fsdp (ranks 0, 1)".
std::string finding_text(const Dumps& dumps, const Analysis& analysis, const Finding& finding);

/// Names a call: "all_reduce number 4 of fsdp, [4, 3] Float".
std::string call_text(const Dumps& dumps, const Call& call);

/// What became of a call: "complete", or its state.
std::string state_text(const Dumps& dumps, const Call& call);

/// Lists ranks in order: "0-3, 7".
std::string ranks_text(const std::vector<std::int64_t>& ranks);

}  // namespace titan::trace
