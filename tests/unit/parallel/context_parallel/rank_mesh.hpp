#pragma once

#include <cstdint>
#include <functional>

#include "titan/torch/group.hpp"

namespace titan::parallel {

/// Runs `body` once for each of that many ranks along "cp", each on a thread of its own, with the mesh that a strategy
/// gets. The first failure is thrown again.
void run_context_ranks(std::int64_t num_ranks, const std::function<void(strategy::Mesh)>& body);

}  // namespace titan::parallel
