#include "plugins/parallel/tensor_parallel/tensor_parallel.hpp"

#include "plugins/parallel/tensor_parallel/boundary.hpp"
#include "plugins/parallel/tensor_parallel/layers.hpp"
#include "plugins/parallel/tensor_parallel/loss.hpp"
#include "plugins/parallel/tensor_parallel/mixtures.hpp"
#include "plugins/parallel/tensor_parallel/placements.hpp"

namespace titan::parallel {

std::shared_ptr<TensorParallel> TensorParallel::apply(const strategy::Tree& tree, strategy::Mesh mesh,
                                                      const Options& options) {
  const Boundary boundary(mesh, options.splits_sequence);
  const strategy::Group& tp = boundary.group();
  if (tp.size() == 1) return nullptr;
  const Mixtures mixtures(tree, options.expert_parameters);
  TensorPlacements placed =
      place_parameters(tree, {tp.size(), tp.rank(), options.splits_sequence}, mixtures, options.expert_parameters);
  attach_layers(tree, boundary, mixtures);
  attach_loss(tree, boundary);
  std::string description = sdk::concat("tensor parallelism over ", tp.size(), " ranks, sequence ",
                                        options.splits_sequence ? "split too: " : "whole: ", placed.num_split,
                                        " parameters split, ", placed.partial.size(), " gradients to sum");
  return std::shared_ptr<TensorParallel>(
      new TensorParallel(PartialGradients(std::move(placed.partial), tree, mesh), std::move(description)));
}

}  // namespace titan::parallel
