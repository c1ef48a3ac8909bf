#pragma once

#include <string>
#include <vector>

#include "plugins/parallel/data_parallel/flat_layout.hpp"
#include "plugins/parallel/data_parallel/unit_plan.hpp"
#include "titan/torch/group.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// The gradients of a unit whose parameters are sharded: each micro-batch's are reduce-scattered and added to this
/// rank's part; the last one's sum is then summed over the replicas. At most one reduction is under way at a time.
class ShardedGradients {
 public:
  ShardedGradients(const UnitPlan& plan, const FlatLayout& layout, strategy::Mesh mesh);

  void materialise(const strategy::Precision& precision) { dtype_ = precision.reduce; }
  /// Takes the gradients that backward left at `tensors` (none: zero) and starts their reduce-scatter.
  void start(const std::vector<at::Tensor>& tensors);
  /// Ends it: adds to the sum. After the step's last micro-batch starts the sum over the replicas.
  void settle(bool is_last);
  /// Waits for the sum over the replicas.
  void finish();
  /// Forgets the sum.
  void clear();
  /// Gives up what is under way.
  void abandon();

 private:
  at::Tensor packed(const std::vector<at::Tensor>& tensors) const;
  void publish();
  void mark(const char* axis, strategy::Gradient state);

  std::vector<strategy::Parameter> parameters_;
  const FlatLayout& layout_;
  strategy::Mesh mesh_;
  const char* axis_;  // that shards are cut along
  strategy::Group shards_, replicas_;
  std::string module_;
  at::ScalarType dtype_ = at::kFloat;
  at::Tensor outgoing_, incoming_;  // of the reduce-scatter under way
  at::Tensor sum_;                  // memory of the gradient boxes
  strategy::Work scatter_, sum_over_replicas_;
};

}  // namespace titan::parallel
