#pragma once

#include <cstdint>
#include <map>

#include "plugins/parallel/pipeline/compute_order.hpp"

namespace titan::parallel::pipeline {

/// The rank of each stage.
using Owners = std::map<std::uint32_t, std::size_t>;

/// Adds sends and receives to rows of forwards and backwards. A send and its receive are put into both rows at one
/// time, so that there is one order of everything in which the ranks never wait for each other in a circle, even when a
/// send waits for its receive. ConfigError when the computations do, and when one that another needs is missing.
Rows with_transfers(const Rows& rows, const Owners& owners);

}  // namespace titan::parallel::pipeline
