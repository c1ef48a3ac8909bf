#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/nn/leaf.hpp"
#include "core/tensor/products.hpp"

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// x [rows, in], weight [out, in] -> [rows, out]: as at::linear, all three products by way of tensor::product().
class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight) {
    context->save_for_backward({x, weight});
    return tensor::product(x, weight.t());
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &grad = grads[0];
    return {context->needs_input_grad(0) ? tensor::product(grad, weight) : at::Tensor(),
            context->needs_input_grad(1) ? tensor::product(grad.t(), x) : at::Tensor()};
  }
};

/// x[..., in] -> [..., out]; weight [out, in].
class Linear : public Leaf {
 public:
  using Leaf::Leaf;
  std::span<const ParameterRule> parameters() const override {
    static constexpr ParameterRule kRules[] = {{"weight", 2}};
    return kRules;
  }

  Tensors forward(Frame& frame, const Tensors& in) override {
    require_inputs(in, 1, 1);
    const at::Tensor& weight = frame.parameter(0);
    require_floating(in[0], "x");
    require_size(in[0], -1, weight.size(1), "x");
    if (in[0].dim() < 2 || !in[0].is_contiguous()) return {at::linear(in[0], weight)};
    const at::Tensor rows = in[0].flatten(0, -2);
    if (!tensor::is_fast_product(rows, weight.t())) return {at::linear(in[0], weight)};
    return {LinearFunction::apply(rows, weight).unflatten(0, in[0].sizes().slice(0, in[0].dim() - 1))};
  }
};

}  // namespace

std::unique_ptr<Leaf> make_linear(LeafSetup& setup) { return std::make_unique<Linear>(setup); }

}  // namespace titan::nn
