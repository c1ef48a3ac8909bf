#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "titan/torch/group.hpp"

namespace titan::parallel {

/// One call's traffic of tokens between the ranks of the group "ep", among which experts are spread in order: rank r of
/// R has experts r E/R and on. Made by all ranks together. A rank or an expert may have no tokens.
class Exchange {
 public:
  /// `counts` [E] int64: this rank's rows for each expert of all. One all-to-all tells the others.
  Exchange(const strategy::Group& ranks, const at::Tensor& counts);

  /// Rows of all ranks for each expert of this one: [E/R] int64.
  const at::Tensor& counts() const { return counts_; }
  /// x [M, D], this rank's rows sorted by expert -> [N, D], all ranks' rows for this rank's experts, sorted by expert,
  /// then by rank. Differentiable.
  at::Tensor send(const at::Tensor& x) const;
  /// [N, D] -> [M, D], each row back in its place. Differentiable.
  at::Tensor send_back(const at::Tensor& out) const;

 private:
  strategy::Group ranks_;
  std::vector<std::int64_t> sent_, received_;  // rows by rank
  at::Tensor counts_;
  at::Tensor by_expert_;  // [N]: where a row sorted by expert lies among those that arrived, sorted by rank
  at::Tensor by_rank_;    // the other way
};

}  // namespace titan::parallel
