#include "core/optim/global_norm.hpp"

#include <algorithm>

#include "core/optim/grad_norm.hpp"

namespace titan::optim {

bool counts_here(const nn::Parameter& parameter, const config::Mesh& mesh, std::int64_t rank) {
  return std::all_of(config::kAxes.begin(), config::kAxes.end(), [&](config::Axis axis) {
    const bool is_sharded = parameter.placements[static_cast<std::size_t>(axis)].shard_dim.has_value();
    return is_sharded || axis == config::Axis::pp || mesh.coordinate(rank, axis) == 0;
  });
}

double counted_squares(const nn::Tree& tree, const config::Mesh& mesh, std::int64_t rank) {
  std::vector<at::Tensor> counted;
  for (const auto& parameter : tree.parameters()) {
    if (counts_here(*parameter, mesh, rank)) counted.push_back(parameter->gradient);
  }
  return sum_of_squares(counted);
}

}  // namespace titan::optim
