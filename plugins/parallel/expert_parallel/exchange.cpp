#include "plugins/parallel/expert_parallel/exchange.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/repeat_interleave.h>
#include <c10/core/GradMode.h>

namespace titan::parallel {
namespace {

/// Sums of the rows of [R, n], for the host.
std::vector<std::int64_t> row_sums(const at::Tensor& counts) {
  const at::Tensor sums = counts.sum(1).cpu();
  const auto* first = sums.const_data_ptr<std::int64_t>();
  return {first, first + sums.numel()};
}

at::Tensor sorting(const at::Tensor& keys) { return keys.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false); }

}  // namespace

Exchange::Exchange(const strategy::Group& ranks, const at::Tensor& counts) : ranks_(ranks) {
  const c10::NoGradGuard no_grad;
  const at::Tensor outgoing = counts.contiguous().view({ranks.size(), -1}), incoming = at::empty_like(outgoing);
  const std::vector<std::int64_t> one_row(static_cast<std::size_t>(ranks.size()), 1);
  ranks_.all_to_all(incoming, outgoing, one_row, one_row).wait();
  sent_ = row_sums(outgoing);
  received_ = row_sums(incoming);
  counts_ = incoming.sum(0);
  const at::Tensor experts = at::arange(incoming.size(1), incoming.options()).repeat({ranks.size()});
  by_expert_ = sorting(at::repeat_interleave(experts, incoming.flatten()));
  by_rank_ = sorting(by_expert_);
}

at::Tensor Exchange::send(const at::Tensor& x) const {
  return ranks_.differentiable_all_to_all(x, received_, sent_).index_select(0, by_expert_);
}

at::Tensor Exchange::send_back(const at::Tensor& out) const {
  return ranks_.differentiable_all_to_all(out.index_select(0, by_rank_), sent_, received_);
}

}  // namespace titan::parallel
