#include "core/nn/plain_attention.hpp"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>

#include "core/nn/documents.hpp"

namespace titan::nn {
namespace {

/// The part of x [B,heads,L,H] or [B,heads,L] that belongs to a document.
at::Tensor part(const at::Tensor& x, const Document& document) {
  return x.narrow(0, document.row, 1).narrow(2, document.start, document.length);
}

}  // namespace

at::Tensor empty_by_token(const at::Tensor& x) {
  return at::empty(x.transpose(1, 2).sizes(), x.options()).transpose(1, 2);
}

std::tuple<at::Tensor, at::Tensor> plain_attention(const at::Tensor& query, const at::Tensor& key,
                                                   const at::Tensor& value, const std::optional<at::Tensor>& found,
                                                   bool is_causal, double scale) {
  if (!found) return at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, is_causal, {}, scale);
  const at::ScalarType precise = query.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  at::Tensor out = empty_by_token(query);
  at::Tensor log_sum = at::empty({query.size(0), query.size(1), query.size(2)}, query.options().dtype(precise));
  for (const Document& document : documents(*found)) {
    const auto [result, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
        part(query, document), part(key, document), part(value, document), 0.0, is_causal, {}, scale);
    part(out, document).copy_(result);
    part(log_sum, document).copy_(sums);
  }
  return {out, log_sum};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> plain_attention_backward(const at::Tensor& grad_out,
                                                                        const at::Tensor& query, const at::Tensor& key,
                                                                        const at::Tensor& value, const at::Tensor& out,
                                                                        const at::Tensor& log_sum,
                                                                        const std::optional<at::Tensor>& found,
                                                                        bool is_causal, double scale) {
  if (!found) {
    return at::_scaled_dot_product_flash_attention_for_cpu_backward(grad_out, query, key, value, out, log_sum, 0.0,
                                                                    is_causal, {}, scale);
  }
  at::Tensor grad_query = empty_by_token(query), grad_key = empty_by_token(key), grad_value = empty_by_token(value);
  for (const Document& document : documents(*found)) {
    const auto [to_query, to_key, to_value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        part(grad_out, document), part(query, document), part(key, document), part(value, document),
        part(out, document), part(log_sum, document), 0.0, is_causal, {}, scale);
    part(grad_query, document).copy_(to_query);
    part(grad_key, document).copy_(to_key);
    part(grad_value, document).copy_(to_value);
  }
  return {grad_query, grad_key, grad_value};
}

}  // namespace titan::nn
