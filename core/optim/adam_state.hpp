#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core/nn/tree.hpp"
#include "core/optim/adam_options.hpp"

namespace titan::optim {

/// Adam's memory of one parameter: both moments in the storage's shape and dtype, and the steps done (fp32, []).
struct AdamState {
  at::Tensor exp_avg;
  at::Tensor exp_avg_sq;
  at::Tensor step;
};

/// Parameters that are trained with the same options.
struct AdamGroup {
  std::string pattern;  // empty: the parameters no pattern matched
  AdamOptions options;
  std::vector<nn::Parameter*> parameters;
  std::vector<AdamState> states;  // one for each parameter
};

/// What one step is given beside the gradients.
struct AdamStep {
  double lr_factor = 1;       // of each group's rate
  double gradient_scale = 1;  // of each gradient as it is read: clipping
};

}  // namespace titan::optim
