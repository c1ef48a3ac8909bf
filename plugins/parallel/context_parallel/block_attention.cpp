#include "plugins/parallel/context_parallel/block_attention.hpp"

#include <ATen/OpMathType.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/logaddexp.h>

namespace titan::parallel {

PartialAttention attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool is_causal, double scale) {
  auto [out, log_sum] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, is_causal, {}, scale);
  return {out.to(at::toOpMathType(out.scalar_type())), log_sum};
}

void merge(const PartialAttention& whole, const PartialAttention& further) {
  const std::int64_t num_queries = further.out.size(2), first = whole.out.size(2) - num_queries;
  const at::Tensor out = whole.out.narrow(2, first, num_queries);
  const at::Tensor log_sum = whole.log_sum.narrow(2, first, num_queries);
  // exp(b) / (exp(a) + exp(b)), without either of them.
  out.lerp_(further.out, further.log_sum.sub(log_sum).sigmoid().unsqueeze(-1));
  log_sum.copy_(at::logaddexp(log_sum, further.log_sum));
}

AttentionGradients attend_backward(const at::Tensor& out_gradient, const at::Tensor& q, const at::Tensor& k,
                                   const at::Tensor& v, const PartialAttention& whole, bool is_causal, double scale) {
  auto [for_q, for_k, for_v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      out_gradient, q, k, v, whole.out, whole.log_sum, 0.0, is_causal, {}, scale);
  return {for_q, for_k, for_v};
}

}  // namespace titan::parallel
