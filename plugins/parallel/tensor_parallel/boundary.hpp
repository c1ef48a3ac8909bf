#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "titan/torch/group.hpp"
#include "titan/torch/interceptor.hpp"

namespace titan::parallel {

/// The way into and out of layers whose features are split over the group "tp". With sequence parallelism a rank has a
/// part of the tokens outside, [B, L / tp, D], and all of them inside; without, all of them everywhere. Copies share
/// the group; training thread.
class Boundary {
 public:
  Boundary(strategy::Mesh mesh, bool splits_sequence)
      : mesh_(mesh), tp_(mesh.group("tp")), splits_sequence_(splits_sequence) {}

  /// x of the running module, as a split layer needs it: [B, L, D]. Made once for all children of its parent; gradients
  /// of x are summed over the ranks.
  at::Tensor enter(const strategy::Frame& frame, const at::Tensor& x) const;
  /// Sums what the ranks made of all tokens, [B, L, D], and gives back what this rank has outside.
  at::Tensor leave(const strategy::Frame& frame, const at::Tensor& summand) const;
  /// The sum over the ranks; its gradient is each summand's.
  at::Tensor sum(const at::Tensor& summand) const;
  /// This rank's part of dim 1 of [B, L, ...]. ConfigError, naming the running module, when it cannot be cut.
  at::Tensor part(const strategy::Frame& frame, const at::Tensor& whole) const;

  bool splits_sequence() const { return splits_sequence_; }
  const strategy::Group& group() const { return tp_; }
  const strategy::Mesh& mesh() const { return mesh_; }

 private:
  strategy::Mesh mesh_;
  strategy::Group tp_;
  bool splits_sequence_;
};

}  // namespace titan::parallel
