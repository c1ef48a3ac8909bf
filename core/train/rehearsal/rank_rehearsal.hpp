#pragma once

#include "core/comm/fake/fake_world.hpp"
#include "core/config/rehearsal.hpp"
#include "core/nn/tree.hpp"

namespace titan::train {

/// Runs one rank of a rehearsal on the calling thread: start and `steps` steps on tensors without values. `made` is the
/// rank as the host made it. `uneven` becomes uneven_axes() of its tree.
RehearsedRank rehearse_rank(comm::FakeWorld& world, const LayoutRank& made, const config::Mesh& mesh, std::int64_t rank,
                            std::int64_t steps, std::vector<config::Axis>& uneven);

}  // namespace titan::train
