#pragma once

#include <string>
#include <vector>

#include "plugins/parallel/flat_layout.hpp"
#include "titan/torch/group.hpp"
#include "titan/torch/tree.hpp"

namespace titan::parallel {

/// The compute forms of a unit's parameters, which have memory only between a gather and the next release. The tensors
/// stay the same: graphs recorded on them find their values again after a gather. Training thread, or the thread that
/// runs its backward.
class GatheredParameters {
 public:
  /// `module` names the unit in records.
  GatheredParameters(std::vector<strategy::Parameter> parameters, const FlatLayout& layout, strategy::Mesh mesh,
                     std::string module);

  /// Makes the compute forms, without memory.
  void materialise(const strategy::Precision& precision);
  /// Starts the gather of all ranks' parts, unless the values are here or on their way.
  void start();
  /// Returns when the values are here.
  void finish();
  /// Frees the memory. A gather on its way is waited for.
  void release();
  bool present() const { return present_; }

  /// The compute forms, in order of the parameters.
  const std::vector<at::Tensor>& tensors() const { return tensors_; }
  const std::vector<strategy::Parameter>& parameters() const { return parameters_; }

 private:
  at::Tensor packed_parts() const;
  void unpack();

  std::vector<strategy::Parameter> parameters_;
  const FlatLayout& layout_;
  strategy::Mesh mesh_;
  strategy::Group group_;
  std::string module_;
  std::vector<at::Tensor> tensors_;
  at::Tensor full_;              // memory of `tensors_`
  at::Tensor shard_, gathered_;  // input and output of the gather on its way
  strategy::Work work_;
  bool present_ = false;
};

}  // namespace titan::parallel
