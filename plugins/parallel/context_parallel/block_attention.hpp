#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/parallel/context_parallel/block.hpp"

namespace titan::parallel {

/// Attention of some queries over some of the keys: outputs [B, N, L, H], and the logarithms of the sums of
/// exponentials [B, N, L], both in float32, or float64 for float64.
struct PartialAttention {
  at::Tensor out, log_sum;
};

/// Attends q [B, N, Lq, H] over k and v [B, K, Lk, H] without expanding k and v to the heads of q.
PartialAttention attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool is_causal, double scale);

/// Merges attention of the last queries over further keys into `whole`, in place.
void merge(const PartialAttention& whole, const PartialAttention& further);

struct AttentionGradients {
  at::Tensor q, k, v;
};

/// The part of the gradients that comes from a block: `out` and `log_sum` are those of the queries over all keys.
AttentionGradients attend_backward(const at::Tensor& out_gradient, const at::Tensor& q, const at::Tensor& k,
                                   const at::Tensor& v, const PartialAttention& whole, bool is_causal, double scale);

}  // namespace titan::parallel
