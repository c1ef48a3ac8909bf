#pragma once

#include "plugins/parallel/tensor_parallel/boundary.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// Makes the loss fit what the last linear leaves on a rank: its part of the vocabulary, or, where only the sequence is
/// split, its part of the tokens. Otherwise the loss stays as it is. ConfigError when the model works out its loss
/// by other means than titan.cross_entropy and would need one of the two. Call after the parameters are placed.
void attach_loss(const strategy::Tree& tree, const Boundary& boundary);

}  // namespace titan::parallel
