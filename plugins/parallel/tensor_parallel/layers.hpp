#pragma once

#include "plugins/parallel/tensor_parallel/boundary.hpp"
#include "plugins/parallel/tensor_parallel/mixtures.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// The weight of a linear or an embedding, its own or another module's (tied). Its part is this rank's words or
/// features once parameters are placed.
strategy::Parameter weight_of(const strategy::Module& module);

/// Puts the boundary around linears whose features are split, around embeddings and around mixtures of experts. Call
/// after the parameters are placed.
void attach_layers(const strategy::Tree& tree, const Boundary& boundary, const Mixtures& mixtures);

}  // namespace titan::parallel
