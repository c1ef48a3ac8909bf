#include "core/train/layouts/output_trace.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <limits>

namespace titan::train {
namespace {

/// Weights that no permutation or change of sign of features leaves as they are.
at::Tensor weights(std::int64_t num_features) {
  return at::arange(1, num_features + 1, at::kDouble).mul_(12.9898).sin_();
}

bool is_by_token(const at::Tensor& output, const at::Tensor& indices) {
  return output.defined() && output.is_floating_point() && output.dim() >= 2 && output.numel() > 0 &&
         output.size(0) == indices.size(0) && output.size(1) == indices.size(1);
}

}  // namespace

void OutputTrace::add(const std::string& module, const at::Tensor& output, const at::Tensor& indices,
                      std::int64_t num_tokens) {
  if (!is_by_token(output, indices)) return;
  const c10::NoGradGuard no_grad;
  const at::Tensor by_token = output.detach().to(at::kDouble).reshape({indices.numel(), -1});
  const at::Tensor sums = by_token.mv(weights(by_token.size(1)));
  const std::scoped_lock lock(mutex_);
  const auto [entry, is_new] = outputs_.try_emplace(module);
  if (is_new) {
    order_.push_back(module);
    entry->second = {by_token.size(1), at::full({num_tokens}, std::numeric_limits<double>::quiet_NaN(), at::kDouble)};
  }
  // A rank that has some of the features only.
  if (entry->second.num_features != by_token.size(1)) return;
  entry->second.sums.index_copy_(0, indices.flatten(), sums);
}

}  // namespace titan::train
