#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "core/nn/kernels/attention/attention_kernel.hpp"

namespace titan::nn {

/// A call of the kernel, cut into tasks that threads do on their own.
struct AttentionPlan {
  std::vector<kernels::AttentionTask> tasks;
  std::int64_t most_keys = 0;  // of a task
  std::int64_t num_workers = 1;
};

/// Plans a call with query [B,N,L,H], key [B,K,S,H] and documents (titan::flash_attention's) for `num_threads`. Every
/// plan gives the same bits.
AttentionPlan plan_attention(const at::Tensor& query, const at::Tensor& key, const std::optional<at::Tensor>& documents,
                             bool is_backward, std::int64_t num_threads);

}  // namespace titan::nn
