#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/nn/tree.hpp"

namespace titan::train {

/// What modules gave for each token of a step's rows, in short: a weighted sum of the token's features. Outputs of
/// different sizes are told apart by their number of features. Any thread may add.
class OutputTrace {
 public:
  struct Outputs {
    std::int64_t num_features = 0;  // of one token
    at::Tensor sums;                // [tokens of the step], float64; NaN where no rank gave any
  };

  /// Adds a module's output [B, L, ...], whose tokens have these indices [B, L] among the step's `num_tokens`. Other
  /// tensors are left out.
  void add(const std::string& module, const at::Tensor& output, const at::Tensor& indices, std::int64_t num_tokens);

  const std::map<std::string, Outputs>& outputs() const { return outputs_; }
  /// Modules in the order in which they first gave an output.
  const std::vector<std::string>& order() const { return order_; }

 private:
  std::mutex mutex_;
  std::map<std::string, Outputs> outputs_;
  std::vector<std::string> order_;
};

}  // namespace titan::train
