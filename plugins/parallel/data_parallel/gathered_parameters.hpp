#pragma once

#include <string>
#include <vector>

#include "plugins/parallel/data_parallel/flat_layout.hpp"
#include "plugins/parallel/data_parallel/unit_plan.hpp"
#include "titan/torch/group.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// The compute forms of a unit's parameters, which have memory only between a gather and the next release. The tensors
/// stay the same: graphs recorded on them find their values again after a gather. In backward each parameter loses its
/// memory when its gradient is complete: nothing in that pass needs the values then, and gradients take the place of
/// parameters instead of coming on top. Training thread, or the thread that runs its backward.
class GatheredParameters {
 public:
  GatheredParameters(const UnitPlan& plan, const FlatLayout& layout, strategy::Mesh mesh);

  /// Makes the compute forms, without memory.
  void materialise(const strategy::Precision& precision);
  /// Starts the gather of all ranks' parts, unless the values are here or on their way.
  void start();
  /// Returns when the values are here.
  void finish();
  /// Frees the memory, unless it is held. A gather on its way is waited for and given up.
  void release();
  /// Says whether the memory is held: nothing frees it then, backward neither.
  void hold(bool on) { is_held_ = on; }

  /// The compute forms, in order of the parameters.
  const std::vector<at::Tensor>& tensors() const { return tensors_; }

 private:
  class ReleaseHook;
  at::Tensor packed_parts() const;
  void unpack();
  void set_allocated(std::size_t index, bool allocated);
  bool present() const { return num_allocated_ == full_.size() && !work_; }

  std::vector<strategy::Parameter> parameters_;
  const FlatLayout& layout_;
  strategy::Mesh mesh_;
  strategy::Group group_;
  std::string module_;
  std::vector<at::Tensor> tensors_;
  std::vector<at::Tensor> full_;  // memory of `tensors_`: rows of all chunks, padding included
  std::vector<bool> allocated_;
  std::size_t num_allocated_ = 0;
  bool is_held_ = false;
  at::Tensor gathered_;  // output of the gather on its way
  strategy::Work work_;
};

}  // namespace titan::parallel
