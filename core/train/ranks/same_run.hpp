#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/train/ranks/ranks.hpp"

namespace titan::train {

/// Names and values that must be equal on all ranks of a run: its options that must match, and its plugins.
using RunFacts = std::vector<std::pair<std::string, std::string>>;
RunFacts facts_of(const EngineRun& run);

/// Compares the facts over all ranks, by hash first. A collective call. ConfigError on all ranks names each fact that
/// differs, with the ranks and their values.
void require_same_run(const RunFacts& facts, Ranks& ranks);

}  // namespace titan::train
