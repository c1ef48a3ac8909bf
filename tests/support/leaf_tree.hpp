#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/nn/tree.hpp"

namespace titan::testing {

/// A tree with a single leaf, called "leaf", whose parameters have given values.
class LeafTree {
 public:
  using Parameters = std::vector<std::pair<std::string, at::Tensor>>;

  LeafTree(const std::string& kind, std::map<std::string, nn::Attribute> attributes, const Parameters& parameters = {});

  nn::Tensors operator()(const nn::Tensors& in, std::uint32_t num_outputs = 1) {
    return tree_.call(leaf_, in, nullptr, num_outputs);
  }
  /// The gradient that backward left at a parameter.
  at::Tensor gradient(const std::string& parameter) const;
  nn::Tree& tree() { return tree_; }

 private:
  nn::Tree tree_;
  nn::ModuleId leaf_;
};

}  // namespace titan::testing
