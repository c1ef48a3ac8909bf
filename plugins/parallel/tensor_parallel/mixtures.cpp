#include "plugins/parallel/tensor_parallel/mixtures.hpp"

#include <algorithm>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

std::set<titan_module> above_routers(const strategy::Tree& tree) {
  std::set<titan_module> found;
  for (const strategy::Module& module : tree.modules()) {
    if (module.kind() != "titan.router") continue;
    for (const strategy::Module& parent : module.parent().lineage()) found.insert(parent.id());
  }
  return found;
}

std::set<titan_module> blocks_and_above(const strategy::Tree& tree) {
  std::set<titan_module> found;
  for (const strategy::Module& block : tree.chain()) {
    for (const strategy::Module& one : block.lineage()) found.insert(one.id());
  }
  return found;
}

bool has_split_features(const strategy::Module& module, const std::set<std::string>& expert_parameters) {
  const auto parameters = module.parameters();
  return std::any_of(parameters.begin(), parameters.end(), [&](const strategy::Parameter& parameter) {
    const bool is_split = parameter.split() == TITAN_SPLIT_EXPERT_COLUMN || parameter.split() == TITAN_SPLIT_EXPERT_ROW;
    return is_split && !expert_parameters.contains(parameter.name());
  });
}

}  // namespace

Mixtures::Mixtures(const strategy::Tree& tree, const std::set<std::string>& expert_parameters) {
  const std::set<titan_module> routes = above_routers(tree), outside = blocks_and_above(tree);
  for (const strategy::Module& module : tree.modules()) {
    if (!has_split_features(module, expert_parameters)) continue;
    const auto parents = module.parent().lineage();
    // The nearest module with the router too; the nearest one where the model routes by other means.
    auto mixture =
        std::find_if(parents.begin(), parents.end(), [&](const auto& one) { return routes.contains(one.id()); });
    if (mixture == parents.end()) mixture = parents.begin();
    if (mixture == parents.end() || outside.contains(mixture->id())) {
      throw sdk::ConfigError("[tensor_parallel] experts and their router must stand in a module of their own, below ",
                             "a block of the chain: ", module.name(), ": --parallelism.tensor_parallel_degree 1");
    }
    if (ids_.insert(mixture->id()).second) modules_.push_back(*mixture);
  }
}

bool Mixtures::contains(strategy::Module module) const {
  for (; !module.is_root(); module = module.parent()) {
    if (ids_.contains(module.parent().id())) return true;
  }
  return false;
}

}  // namespace titan::parallel
