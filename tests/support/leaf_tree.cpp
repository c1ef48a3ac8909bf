#include "tests/support/leaf_tree.hpp"

#include <c10/core/GradMode.h>

#include "tests/support/declare.hpp"

namespace titan::testing {

LeafTree::LeafTree(const std::string& kind, std::map<std::string, nn::Attribute> attributes,
                   const Parameters& parameters) {
  leaf_ = tree_.add_leaf(TITAN_MODULE_ROOT, "leaf", kind, std::move(attributes));
  for (const auto& [name, value] : parameters) {
    const auto shape = value.sizes().vec();
    tree_.add_parameter(leaf_, declare(name, shape));
  }
  const at::ScalarType type = parameters.empty() ? at::kFloat : parameters.front().second.scalar_type();
  tree_.materialise({type, type, type}, at::kCPU, 0);
  const at::NoGradGuard no_grad;
  for (const auto& [name, value] : parameters) tree_.find_parameter("leaf." + name)->storage.copy_(value);
}

at::Tensor LeafTree::gradient(const std::string& parameter) const {
  return tree_.find_parameter("leaf." + parameter)->compute.grad();
}

}  // namespace titan::testing
