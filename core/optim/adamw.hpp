#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core/nn/tree.hpp"
#include "core/optim/param_groups.hpp"

namespace titan::optim {

/// Adam's memory of one parameter: both moments in the storage's shape and dtype, and the steps done (fp32, []).
struct AdamState {
  at::Tensor exp_avg;
  at::Tensor exp_avg_sq;
  at::Tensor step;
};

/// Adam and AdamW over the storage of parameters. Used by one thread at a time.
class AdamOptimizer {
 public:
  struct Group {
    std::string pattern;  // empty: the parameters no pattern matched
    AdamOptions options;
    std::vector<nn::Parameter*> parameters;
    std::vector<AdamState> states;  // one for each parameter
  };

  /// Forms the groups (ConfigError as assign_groups) of all parameters, so that they are the same on every rank, and
  /// zero states for those that have storage: others are trained by other pipeline stages, and no member here. The
  /// parameters must outlive the optimizer.
  AdamOptimizer(const std::vector<nn::Parameter*>& parameters, const std::vector<GroupRule>& rules,
                const AdamOptions& defaults, Implementation implementation);

  /// Updates every storage from its gradient, at each group's rate times `lr_factor`. Gradients of another dtype are
  /// cast. InternalError when a gradient is missing.
  void step(double lr_factor);

  /// Forgets all it has seen: moments and steps are 0 again.
  void reset();

  const std::vector<Group>& groups() const { return groups_; }
  /// The first group's rate at that factor.
  double lr(double lr_factor) const { return groups_.empty() ? 0 : groups_.front().options.lr * lr_factor; }

 private:
  std::vector<Group> groups_;
  Implementation implementation_;
};

}  // namespace titan::optim
