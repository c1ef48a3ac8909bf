#pragma once

#include <mutex>
#include <string>

#include "core/nn/tree.hpp"
#include "tests/distributed/rank_runs.hpp"

namespace titan::testing {

/// Puts whole parameters together from the parts of all ranks. Any thread may add.
class WholeTensors {
 public:
  /// Adds a box of every parameter: the storage, or the gradient.
  void add(const nn::Tree& tree, at::Tensor nn::Parameter::*box);

  /// The whole tensors. std::runtime_error names a parameter of which ranks gave different bits, or not every element.
  Tensors take(const std::string& what);

 private:
  struct Whole {
    at::Tensor values;
    at::Tensor is_there;  // bool
    bool is_consistent = true;
  };
  void paste(const nn::Parameter& parameter, const at::Tensor& part);

  std::mutex mutex_;
  std::map<std::string, Whole> wholes_;
};

}  // namespace titan::testing
