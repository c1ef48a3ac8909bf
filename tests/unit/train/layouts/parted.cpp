#include "tests/unit/train/layouts/parted.hpp"

namespace titan::train {

PartedTensor sharded(const at::Tensor& whole, std::int64_t num_ranks) {
  PartedTensor made;
  made.shape = whole.sizes().vec();
  std::vector<std::int64_t> offset(made.shape.size(), 0), size = made.shape;
  size[0] /= num_ranks;
  for (std::int64_t rank = 0; rank < num_ranks; ++rank) {
    offset[0] = rank * size[0];
    made.parts.push_back({rank, {offset, size}, whole.narrow(0, offset[0], size[0]).clone()});
  }
  return made;
}

PartedTensor replicated(const std::vector<at::Tensor>& replicas) {
  PartedTensor made;
  made.shape = replicas.front().sizes().vec();
  const nn::Box all{std::vector<std::int64_t>(made.shape.size(), 0), made.shape};
  for (const at::Tensor& replica : replicas) {
    made.parts.push_back({static_cast<std::int64_t>(made.parts.size()), all, replica.clone()});
  }
  return made;
}

}  // namespace titan::train
