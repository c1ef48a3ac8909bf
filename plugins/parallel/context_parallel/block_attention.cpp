#include "plugins/parallel/context_parallel/block_attention.hpp"

#include <ATen/OpMathType.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/logaddexp.h>

#include <optional>
#include <tuple>

namespace titan::parallel {
namespace {

using Tensor = at::Tensor;
using Documents = std::optional<Tensor>;
using Forward = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&, const Documents&, bool, double);
using Backward = std::tuple<Tensor, Tensor, Tensor>(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                                    const Tensor&, const Tensor&, const Documents&, bool, double);

/// The host's own operator, by its name with libtorch.
template <class Signature>
const auto& host_operator(const char* name) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<Signature>();
  return op;
}

}  // namespace

PartialAttention attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool is_causal, double scale) {
  auto [out, log_sum] = host_operator<Forward>("titan::flash_attention").call(q, k, v, {}, is_causal, scale);
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
  auto [for_q, for_k, for_v] = host_operator<Backward>("titan::flash_attention_backward")
                                   .call(out_gradient, q, k, v, whole.out, whole.log_sum, {}, is_causal, scale);
  return {for_q, for_k, for_v};
}

}  // namespace titan::parallel
