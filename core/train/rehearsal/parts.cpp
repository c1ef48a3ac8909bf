#include "core/train/rehearsal/parts.hpp"

#include <algorithm>
#include <set>

#include "core/base/text.hpp"
#include "core/comm/fake/fake_world.hpp"
#include "core/train/ranks/strategies.hpp"
#include "core/train/run_parts.hpp"

namespace titan::train {

namespace {

bool is_of_data(config::Axis axis) { return axis == config::Axis::dp_shard || axis == config::Axis::cp; }

/// Axes along which a dim of the parameter is not cut into equal parts. What splits a model's computation cuts first,
/// data parallelism what is left.
std::vector<config::Axis> uneven_axes(const nn::Parameter& parameter, std::size_t dim, const config::Mesh& mesh) {
  std::int64_t ranks = 1, model_ranks = 1;
  std::vector<config::Axis> axes;
  for (const config::Axis axis : config::kAxes) {
    if (parameter.placements[static_cast<std::size_t>(axis)].shard_dim != static_cast<std::int64_t>(dim)) continue;
    ranks *= mesh.degree(axis);
    if (!is_of_data(axis)) model_ranks *= mesh.degree(axis);
    axes.push_back(axis);
  }
  if (parameter.part.size[dim] * ranks == parameter.shape[dim]) return {};
  if (parameter.shape[dim] % model_ranks == 0) std::erase_if(axes, [](config::Axis axis) { return !is_of_data(axis); });
  return axes;
}

}  // namespace

std::vector<config::Axis> uneven_axes(const nn::Tree& tree, const config::Mesh& mesh) {
  std::set<config::Axis> uneven;
  for (const auto& parameter : tree.parameters()) {
    for (std::size_t dim = 0; dim < parameter->shape.size(); ++dim) {
      const std::vector<config::Axis> axes = uneven_axes(*parameter, dim, mesh);
      uneven.insert(axes.begin(), axes.end());
    }
  }
  return {uneven.begin(), uneven.end()};
}

std::string part_sizes(const LayoutRank& made, const config::Mesh& mesh, std::int64_t rank) {
  const EngineRun& run = made.run;
  comm::FakeWorld world(mesh);
  const auto communicator = world.join(rank, {[](const comm::WorkRecord&) {}, [](const comm::WorkRecord&) {}});
  Strategies strategies(run.host, run.strategies);
  nn::Tree tree;  // goes before the ranks: strategies live in it
  build_tree(run, tree);
  tree.set_mesh(mesh);
  strategies.apply(tree, *communicator);
  std::string text;
  for (const auto& parameter : tree.parameters()) {
    for (const std::int64_t size : parameter->part.size) text += concat(size, ',');
    text += ';';
  }
  return text;
}

}  // namespace titan::train
