#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace titan::nn {

// Attention on libtorch's kernel for CPUs, for what ours does not take. Arguments and results as of
// titan::flash_attention and its backward; not recorded by autograd. Documents go one by one: it costs what they cost
// each on their own.

std::tuple<at::Tensor, at::Tensor> plain_attention(const at::Tensor& query, const at::Tensor& key,
                                                   const at::Tensor& value, const std::optional<at::Tensor>& documents,
                                                   bool is_causal, double scale);

std::tuple<at::Tensor, at::Tensor, at::Tensor> plain_attention_backward(const at::Tensor& grad_out,
                                                                        const at::Tensor& query, const at::Tensor& key,
                                                                        const at::Tensor& value, const at::Tensor& out,
                                                                        const at::Tensor& log_sum,
                                                                        const std::optional<at::Tensor>& documents,
                                                                        bool is_causal, double scale);

/// An uninitialised tensor of x's sizes [B,N,L,H] that lies in memory as [B,L,N,H], as the leaves want it.
at::Tensor empty_by_token(const at::Tensor& x);

}  // namespace titan::nn
