#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "plugins/parallel/context_parallel/load_balancer.hpp"
#include "titan/torch/group.hpp"

namespace titan::parallel {

/// How one attention module is computed by the ranks of a group together.
struct RingAttention {
  strategy::Mesh mesh;
  strategy::Group group;
  std::string module;  // for the records of backward
  LoadBalancer balancer = LoadBalancer::headtail;
  bool is_causal = true;
};

/// Attention over whole rows of which each rank has a part: q [B, L, N, H], k and v [B, L, K, H] -> [B, L, N, H], N a
/// multiple of K, nothing empty. Differentiable. Keys and values go around the ranks, and in backward their gradients
/// with them, summed in float32 (float64 for float64); a hop runs while the block before it is computed. The sums are
/// made in an order that is fixed by the layout. HostError when a peer is lost.
at::Tensor ring_attention(const RingAttention& ring, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          double scale);

}  // namespace titan::parallel
