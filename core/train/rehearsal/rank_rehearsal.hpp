#pragma once

#include "core/comm/fake/fake_world.hpp"
#include "core/config/rehearsal.hpp"
#include "core/nn/tree.hpp"

namespace titan::train {

/// What is learnt from a rank beside its answer: the mesh axes along which parameters are cut unevenly, so that ranks
/// that differ there have different work.
using UnevenAxes = std::vector<config::Axis>;

/// Runs one rank of a rehearsal on the calling thread: start and `steps` steps on tensors without values. `made` is the
/// rank as the host made it.
RehearsedRank rehearse_rank(comm::FakeWorld& world, const LayoutRank& made, const config::Mesh& mesh, std::int64_t rank,
                            std::int64_t steps, UnevenAxes& uneven);

/// Axes along which some parameter of the tree is not cut into equal parts.
UnevenAxes uneven_axes(const nn::Tree& tree, const config::Mesh& mesh);

}  // namespace titan::train
