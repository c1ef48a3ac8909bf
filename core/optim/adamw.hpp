#pragma once

#include <vector>

#include "core/optim/adam_state.hpp"
#include "core/optim/param_groups.hpp"

namespace titan::optim {

/// Adam and AdamW over the storage of parameters. Used by one thread at a time.
class AdamOptimizer {
 public:
  using Group = AdamGroup;

  /// Forms the groups (ConfigError as assign_groups) of all parameters, so that they are the same on every rank, and
  /// zero states for those that have storage: others are trained by other pipeline stages, and no member here. The
  /// parameters must outlive the optimizer.
  AdamOptimizer(const std::vector<nn::Parameter*>& parameters, const std::vector<GroupRule>& rules,
                const AdamOptions& defaults, Implementation implementation);

  /// Updates every storage from its gradient, at each group's rate times `lr_factor`. Gradients are read in any dtype,
  /// times `gradient_scale`, and stay as they are. Says whether the compute forms that the host owns were written too:
  /// else Tree::refresh_compute() is due. InternalError when a gradient is missing.
  bool step(double lr_factor, double gradient_scale = 1);

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
