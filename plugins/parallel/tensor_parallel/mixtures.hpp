#pragma once

#include <set>
#include <string>
#include <vector>

#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// The modules of a model that route tokens to experts whose features are split. Experts are given tokens in no order
/// of a sequence, so such a module is entered and left as a whole: inside, every rank has all tokens, and makes a
/// summand of the module's output.
class Mixtures {
 public:
  /// `expert_parameters` are spread over ranks as whole experts: their modules stay as they are. ConfigError names a
  /// mixture that is not a module of its own below a block of the chain.
  Mixtures(const strategy::Tree& tree, const std::set<std::string>& expert_parameters);

  const std::vector<strategy::Module>& modules() const { return modules_; }
  /// Whether the module stands below one of them.
  bool contains(strategy::Module module) const;

 private:
  std::vector<strategy::Module> modules_;
  std::set<titan_module> ids_;
};

}  // namespace titan::parallel
