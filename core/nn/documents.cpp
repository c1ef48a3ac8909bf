#include "core/nn/documents.hpp"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

static_assert(sizeof(Document) == 3 * sizeof(std::int64_t));

/// The part of x [B,heads,L,H] or [B,heads,L] that belongs to a document.
at::Tensor part(const at::Tensor& x, const Document& document) {
  return x.narrow(0, document.row, 1).narrow(2, document.start, document.length);
}

/// An uninitialised tensor of x's sizes that lies in memory as [B,L,heads,...], as the leaves want it.
at::Tensor empty_by_token(const at::Tensor& x) {
  return at::empty(x.transpose(1, 2).sizes(), x.options()).transpose(1, 2);
}

class BlockCausalFunction : public torch::autograd::Function<BlockCausalFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& found, double scale) {
    const at::ScalarType precise = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    at::Tensor out = empty_by_token(q);
    at::Tensor log_sums = at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(precise));
    for (const Document& document : documents(found)) {
      const auto [result, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
          part(q, document), part(k, document), part(v, document), 0.0, true, {}, scale);
      part(out, document).copy_(result);
      part(log_sums, document).copy_(sums);
    }
    context->save_for_backward({q, k, v, out, log_sums, found});
    context->saved_data["scale"] = scale;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &log_sums = saved[4];
    const double scale = context->saved_data["scale"].toDouble();
    at::Tensor grad_q = empty_by_token(q), grad_k = empty_by_token(k), grad_v = empty_by_token(v);
    for (const Document& document : documents(saved[5])) {
      const auto [to_q, to_k, to_v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
          part(grads[0], document), part(q, document), part(k, document), part(v, document), part(out, document),
          part(log_sums, document), 0.0, true, {}, scale);
      part(grad_q, document).copy_(to_q);
      part(grad_k, document).copy_(to_k);
      part(grad_v, document).copy_(to_v);
    }
    return {grad_q, grad_k, grad_v, {}, {}};
  }
};

}  // namespace

at::Tensor find_documents(const at::Tensor& positions) {
  const at::Tensor flat = positions.contiguous();
  const std::int64_t rows = flat.size(0), length = flat.size(1);
  const auto* position = flat.const_data_ptr<std::int64_t>();
  std::vector<Document> found;
  for (std::int64_t row = 0; row < rows; ++row, position += length) {
    for (std::int64_t start = 0, end = 1; start < length; start = end++) {
      while (end < length && position[end] > position[end - 1]) ++end;
      found.push_back({row, start, end - start});
    }
  }
  at::Tensor table = at::empty({static_cast<std::int64_t>(found.size()), 3}, at::kLong);
  std::copy(found.begin(), found.end(), reinterpret_cast<Document*>(table.mutable_data_ptr<std::int64_t>()));
  return table;
}

std::span<const Document> documents(const at::Tensor& found) {
  return {reinterpret_cast<const Document*>(found.const_data_ptr<std::int64_t>()),
          static_cast<std::size_t>(found.size(0))};
}

at::Tensor block_causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const at::Tensor& found_documents, double scale) {
  return BlockCausalFunction::apply(q, k, v, found_documents, scale);
}

}  // namespace titan::nn
