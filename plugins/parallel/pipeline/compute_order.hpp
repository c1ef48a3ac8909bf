#pragma once

#include <cstdint>
#include <vector>

#include "titan/abi/schedule.h"

namespace titan::parallel::pipeline {

/// What each rank of a pipeline does, in order.
using Rows = std::vector<std::vector<titan_action>>;

/// Sizes of one pass. Stage s is on rank s % num_ranks.
struct Pass {
  std::uint32_t num_ranks, num_stages, num_micro_batches;
};

/// All forwards, then all backwards.
Rows gpipe(const Pass& pass);
/// As many forwards as stages follow, then a backward and a forward in turn. One stage a rank, as gpipe().
Rows one_forward_one_backward(const Pass& pass);
/// The same with several stages a rank. Micro-batches go through a rank's stages in rounds of about num_ranks.
/// ConfigError unless the rounds are equally long.
Rows interleaved(const Pass& pass);

/// The forwards alone.
Rows without_backward(const Rows& rows);

}  // namespace titan::parallel::pipeline
