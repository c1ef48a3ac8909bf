#pragma once

#include <functional>

#include "core/comm/communicator.hpp"

namespace titan::comm {

/// Runs `body` once for each rank of the mesh, each on a thread of its own with its own communicator. A rank that
/// throws makes the calls of the others fail; the first failure is thrown again when all ranks have ended.
void run_rank_threads(const config::Mesh& mesh, const std::function<void(Communicator&)>& body);

}  // namespace titan::comm
