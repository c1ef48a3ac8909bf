#pragma once

#include <set>
#include <string>
#include <vector>

#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// Parameters that are gathered and reduced together, and the module that needs them.
struct UnitPlan {
  strategy::Module module;
  std::vector<strategy::Parameter> parameters;
  /// The group that they are cut over: "fsdp", or "efsdp", whose ranks have the same experts.
  const char* shards = "fsdp";
  /// Whether a module of another unit uses one of them too (tied weights).
  bool is_shared = false;
};

/// Cuts the tree into units, in order of execution: one for each block of the chain that has parameters, then one for
/// each module below the root that has parameters and stands beside the chain. Experts (`expert_parameters`) are units
/// of their own, behind their block. Parameters of other pipeline stages are left out. ConfigError names a module whose
/// parameters belong to no unit.
std::vector<UnitPlan> plan_units(const strategy::Tree& tree, const std::set<std::string>& expert_parameters = {});

}  // namespace titan::parallel
