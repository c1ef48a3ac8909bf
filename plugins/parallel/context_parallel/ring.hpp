#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "titan/torch/group.hpp"

namespace titan::parallel {

/// Tensors that go around the ranks of a group, from each to the next one, one hop at a time.
class Ring {
 public:
  /// `tag` tells the ring's messages from those of others that are under way.
  Ring(const strategy::Group& group, std::uint32_t tag) : group_(group), tag_(tag) {}

  /// Starts a hop: sends `held` on, and receives what the previous rank holds. `held` may be read until finish(), and
  /// must not be written.
  void start(const at::Tensor& held);
  /// Ends the hop: what arrived, a tensor of the same shape and dtype.
  at::Tensor finish();

 private:
  strategy::Group group_;
  std::uint32_t tag_;
  at::Tensor arriving_;
  strategy::Work sending_, receiving_;
};

}  // namespace titan::parallel
