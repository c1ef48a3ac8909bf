#include "core/nn/swiglu.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/silu.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/nn/fused.hpp"
#include "core/nn/kernels/swiglu_kernel.hpp"
#include "core/nn/leaf.hpp"
#include "core/tensor/parallel.hpp"

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kGrain = 8192;

/// gate and up, both contiguous and of one dtype with kernels; computed in fp32, rounded once.
class SwigluFunction : public torch::autograd::Function<SwigluFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate, const at::Tensor& up) {
    at::Tensor out = at::empty_like(gate);
    with_element_type(gate, [&](auto element) {
      using T = decltype(element);
      const T *g = gate.const_data_ptr<T>(), *u = up.const_data_ptr<T>();
      T* to = out.mutable_data_ptr<T>();
      tensor::parallel_for(0, gate.numel(), kGrain, [&](std::int64_t first, std::int64_t last) {
        kernels::swiglu(g + first, u + first, to + first, last - first);
      });
    });
    context->save_for_backward({gate, up});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    refuse_second_derivative("swiglu");
    const auto saved = context->get_saved_variables();
    const at::Tensor &gate = saved[0], &up = saved[1], grad = grads[0].contiguous();
    at::Tensor grad_gate = at::empty_like(gate), grad_up = at::empty_like(up);
    with_element_type(gate, [&](auto element) {
      using T = decltype(element);
      const T *d = grad.const_data_ptr<T>(), *g = gate.const_data_ptr<T>(), *u = up.const_data_ptr<T>();
      T *to_gate = grad_gate.mutable_data_ptr<T>(), *to_up = grad_up.mutable_data_ptr<T>();
      tensor::parallel_for(0, gate.numel(), kGrain, [&](std::int64_t first, std::int64_t last) {
        kernels::swiglu_backward(d + first, g + first, u + first, to_gate + first, to_up + first, last - first);
      });
    });
    return {grad_gate, grad_up};
  }
};

/// gate[..., F], up[..., F] -> silu(gate) * up.
class Swiglu : public Leaf {
 public:
  using Leaf::Leaf;

  Tensors forward(Frame&, const Tensors& in) override {
    require_inputs(in, 2, 2);
    const at::Tensor &gate = in[0], &up = in[1];
    require_floating(gate, "gate");
    require_same_shape(up, gate, "up");
    return {swiglu(gate, up)};
  }
};

}  // namespace

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) {
  if (!has_kernel(tensor::Kernel::swiglu, gate) || up.scalar_type() != gate.scalar_type()) return at::silu(gate) * up;
  return SwigluFunction::apply(gate.contiguous(), up.contiguous());
}

std::unique_ptr<Leaf> make_swiglu(LeafSetup& setup) { return std::make_unique<Swiglu>(setup); }

}  // namespace titan::nn
