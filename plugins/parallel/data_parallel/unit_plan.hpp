#pragma once

#include <vector>

#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// Parameters that are gathered and reduced together, and the module that needs them.
struct UnitPlan {
  strategy::Module module;
  std::vector<strategy::Parameter> parameters;
};

/// Cuts the tree into units, in order of execution: one for each block of the chain that has parameters, then one for
/// each module below the root that has parameters and stands beside the chain. ConfigError names a module whose
/// parameters belong to neither.
std::vector<UnitPlan> plan_units(const strategy::Tree& tree);

}  // namespace titan::parallel
