#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/parallel/pipeline/options.hpp"
#include "titan/abi/schedule.h"

namespace titan::parallel::pipeline {

/// The parts of a chain: blocks before the first numbered one ("layers.0") are the embedding, those after the last one
/// the head, and what is between are layers. A chain without numbers has layers only.
struct ChainParts {
  std::int64_t num_before = 0, num_layers = 0, num_after = 0;
};
ChainParts parts_of(const std::vector<std::string>& blocks);

/// Number of stages for that many ranks. ConfigError, with the arithmetic, when the layers do not make as many, or the
/// schedule runs another number on each rank.
std::int64_t count_stages(const Options& options, std::int64_t num_ranks, const ChainParts& parts);

/// Cuts the chain: layers are spread evenly, the first stages have one more; or as the options name the blocks.
/// ConfigError names what does not fit.
std::vector<titan_stage> split_stages(const Options& options, const std::vector<std::string>& blocks,
                                      std::int64_t num_stages);

}  // namespace titan::parallel::pipeline
