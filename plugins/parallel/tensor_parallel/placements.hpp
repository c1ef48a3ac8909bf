#pragma once

#include <cstdint>
#include <vector>

#include "plugins/parallel/tensor_parallel/mixtures.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// A rank's place along "tp", and what its tokens are between split layers.
struct TensorRank {
  std::int64_t size = 1, rank = 0;
  bool splits_sequence = true;
};

/// What became of the parameters.
struct TensorPlacements {
  int num_split = 0;
  /// Replicated, and every rank has a summand of the gradient.
  std::vector<strategy::Parameter> partial;
};

/// Lays every parameter over the ranks as its split says, and declares its gradient. Those in `expert_parameters` are
/// left alone. ConfigError names a parameter that the number of ranks does not divide, or one whose split
/// its module's kind cannot have.
TensorPlacements place_parameters(const strategy::Tree& tree, const TensorRank& rank, const Mixtures& mixtures,
                                  const std::set<std::string>& expert_parameters);

}  // namespace titan::parallel
