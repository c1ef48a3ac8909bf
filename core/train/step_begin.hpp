#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/nn/tree.hpp"

namespace titan::train {

/// What a tree has at a step's begin and the step changes before its update, gradients aside: for beginning it anew.
class StepBegin {
 public:
  /// Remembers. The tree must outlive the object.
  explicit StepBegin(nn::Tree& tree);

  /// Gives the tree back its random state and its buffers.
  void restore() const;
  /// Gives it back its buffers alone: the step is over, without effect on them.
  void restore_buffers() const;

 private:
  nn::Tree& tree_;
  at::Tensor random_state_;
  std::vector<at::Tensor> buffers_;
};

}  // namespace titan::train
