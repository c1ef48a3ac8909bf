#include "core/nn/grouped_product.hpp"

#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>

#include "core/tensor/values.hpp"

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What libtorch asks of the rows of all its operands.
constexpr std::int64_t kAlignment = 16;

/// Calls body(expert, first row, number of rows) for each expert that has rows.
template <class Body>
void for_each_expert(const at::Tensor& counts, Body body) {
  const at::Tensor readable = counts.cpu().contiguous();
  const auto* rows = readable.const_data_ptr<std::int64_t>();
  for (std::int64_t expert = 0, first = 0; expert < readable.numel(); first += rows[expert++]) {
    if (rows[expert] > 0) body(expert, first, rows[expert]);
  }
}

at::Tensor ends(const at::Tensor& counts, const at::Tensor& x) { return counts.cumsum(0, at::kInt).to(x.device()); }

/// x [M, a], weight [E, a, b] -> [M, b].
at::Tensor products(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& counts, bool at_once) {
  if (at_once) return at::_grouped_mm(x, weight, ends(counts, x));
  at::Tensor out = at::empty({x.size(0), weight.size(2)}, x.options());
  for_each_expert(counts, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    at::Tensor part = out.narrow(0, first, rows);
    at::mm_out(part, x.narrow(0, first, rows), weight.select(0, expert));
  });
  return out;
}

/// grad [M, out], x [M, in] -> [E, out, in]: zero for an expert without rows.
at::Tensor weight_gradients(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& counts, bool at_once) {
  if (at_once) return at::_grouped_mm(grad.t(), x, ends(counts, x));
  at::Tensor out = at::zeros({counts.numel(), grad.size(1), x.size(1)}, x.options());
  for_each_expert(counts, [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    at::Tensor part = out.select(0, expert);
    at::mm_out(part, grad.narrow(0, first, rows).t(), x.narrow(0, first, rows));
  });
  return out;
}

class GroupedLinear : public torch::autograd::Function<GroupedLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& counts) {
    context->save_for_backward({x, weight, counts});
    return products(x, weight.transpose(1, 2), counts, has_grouped_product(x, weight));
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &counts = saved[2], grad = grads[0].contiguous();
    const bool at_once = has_grouped_product(x, weight) && has_grouped_product(grad, weight);
    return {products(grad, weight, counts, at_once), weight_gradients(grad, x, counts, at_once), {}};
  }
};

bool is_aligned(const at::Tensor& tensor) {
  const auto bytes = tensor.size(-1) * static_cast<std::int64_t>(tensor.element_size());
  return bytes % kAlignment == 0 && reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % kAlignment == 0;
}

}  // namespace

bool has_grouped_product(const at::Tensor& x, const at::Tensor& weight) {
  const at::ScalarType type = x.scalar_type();
  const bool has_type =
      type == at::kBFloat16 || ((x.is_cpu() || !tensor::has_values(x)) && (type == at::kFloat || type == at::kHalf));
  const auto out_bytes = weight.size(1) * static_cast<std::int64_t>(weight.element_size());
  return has_type && weight.scalar_type() == type && x.numel() > 0 && out_bytes % kAlignment == 0 && is_aligned(x) &&
         is_aligned(weight);
}

at::Tensor grouped_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& counts) {
  return GroupedLinear::apply(x.contiguous(), weight, counts);
}

}  // namespace titan::nn
