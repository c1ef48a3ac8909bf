#pragma once

#include <memory>
#include <set>
#include <string>

#include "plugins/parallel/part.hpp"
#include "plugins/parallel/tensor_parallel/partial_gradients.hpp"

namespace titan::parallel {

/// Tensor parallelism of one rank: layers split by features, heads and words over the group "tp", and the sequence
/// between them where it is split too.
class TensorParallel : public Part {
 public:
  struct Options {
    bool splits_sequence = true;
    std::set<std::string> expert_parameters = {};  // spread over ranks as whole experts: left alone
  };
  /// Places the parameters and attaches the interceptors. Null, with nothing attached, when the group has one rank.
  static std::shared_ptr<TensorParallel> apply(const strategy::Tree& tree, strategy::Mesh mesh, const Options& options);

  /// Sums the gradients of which every rank has a summand: data parallelism has done its part by then.
  void step_end() override { partial_.sum(); }

  /// "tensor parallelism over 2 ranks, sequence split too: 57 parameters split, 17 gradients to sum": for the log.
  const std::string& description() const { return description_; }

 private:
  TensorParallel(PartialGradients partial, std::string description)
      : partial_(std::move(partial)), description_(std::move(description)) {}

  PartialGradients partial_;
  std::string description_;
};

}  // namespace titan::parallel
