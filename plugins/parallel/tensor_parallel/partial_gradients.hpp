#pragma once

#include <vector>

#include "titan/torch/group.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// Gradients of which every rank of a group has a summand: norms, routers.
class PartialGradients {
 public:
  PartialGradients(std::vector<strategy::Parameter> parameters, const strategy::Tree& tree, strategy::Mesh mesh)
      : parameters_(std::move(parameters)), tree_(tree), mesh_(mesh), tp_(mesh.group("tp")) {}

  /// Sums them over the group, in one call, and marks them. A rank without a gradient counts as zero.
  void sum() const;
  std::size_t size() const { return parameters_.size(); }

 private:
  std::vector<strategy::Parameter> parameters_;
  strategy::Tree tree_;
  strategy::Mesh mesh_;
  strategy::Group tp_;
};

}  // namespace titan::parallel
