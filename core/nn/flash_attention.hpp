#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace titan::nn {

// Attention on the CPU, as operators of libtorch's dispatcher, so that profilers, selective recomputation and plugins
// see it as they see libtorch's own:
//
//   titan::flash_attention(Tensor query, Tensor key, Tensor value, Tensor? documents, bool is_causal, float scale)
//     -> (Tensor out, Tensor log_sum)
//   titan::flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out,
//     Tensor log_sum, Tensor? documents, bool is_causal, float scale) -> (Tensor, Tensor, Tensor)
//
// query [B,N,L,H], key and value [B,K,S,H] with N a multiple of K and S > 0, floating, of one dtype, any strides; out
// [B,N,L,H], which lies in memory as [B,L,N,H]; log_sum [B,N,L], fp32 (fp64 for fp64): the logarithm of the softmax's
// denominator, which has no gradient. is_causal: query i sees keys 0 to i. documents: int64 [documents, 3] as
// find_documents() gives them, which do not see each other; then L = S. fp32 and bf16 with head dims that are multiples
// of 8 up to 128 and a scale above 0 run on our own kernel, which TITAN_DISABLE_KERNELS=attention switches off, and
// whose results do not depend on the number of threads; all else on libtorch's, document by document.
//
// They are registered when the process loads this room.

/// Makes sure that this room is linked in, for who calls the operators by name alone.
void register_flash_attention();

/// Calls titan::flash_attention, differentiably: out and log_sum.
std::tuple<at::Tensor, at::Tensor> flash_attention(const at::Tensor& query, const at::Tensor& key,
                                                   const at::Tensor& value, const std::optional<at::Tensor>& documents,
                                                   bool is_causal, double scale);

/// Calls titan::flash_attention_backward: the gradients of query, key and value.
std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const at::Tensor& grad_out,
                                                                        const at::Tensor& query, const at::Tensor& key,
                                                                        const at::Tensor& value, const at::Tensor& out,
                                                                        const at::Tensor& log_sum,
                                                                        const std::optional<at::Tensor>& documents,
                                                                        bool is_causal, double scale);

}  // namespace titan::nn
