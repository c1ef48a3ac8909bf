#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/nn/fused.hpp"
#include "core/nn/kernels/rms_norm_kernel.hpp"
#include "core/nn/leaf.hpp"
#include "core/tensor/parallel.hpp"

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Partial sums of the weight's gradient are formed over this many rows each, whatever the number of threads.
constexpr std::int64_t kRowsOfPartialSum = 128;

at::Tensor empty_scales(const at::Tensor& x) {
  return at::empty({x.numel() / x.size(-1)}, x.options().dtype(at::kFloat));
}

/// The gradients of x, or of both summands, and of the weight. `grad_sum` is undefined for a norm of x alone.
variable_list differentiate(const at::Tensor& grad, const at::Tensor& grad_sum, const at::Tensor& x,
                            const at::Tensor& weight, const at::Tensor& scale) {
  const std::int64_t dim = weight.numel(), rows = x.numel() / dim;
  const std::int64_t parts = (rows + kRowsOfPartialSum - 1) / kRowsOfPartialSum;
  at::Tensor grad_x = at::empty_like(x), partial = at::zeros({parts, dim}, x.options().dtype(at::kFloat));
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    const T *g = grad.const_data_ptr<T>(), *from = x.const_data_ptr<T>(), *factor = weight.const_data_ptr<T>();
    const T* added = grad_sum.defined() ? grad_sum.const_data_ptr<T>() : nullptr;
    T* to = grad_x.mutable_data_ptr<T>();
    const auto* scales = scale.const_data_ptr<float>();
    auto* sums = partial.mutable_data_ptr<float>();
    tensor::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t row = part * kRowsOfPartialSum, count = std::min(kRowsOfPartialSum, rows - row);
        const std::int64_t first = row * dim;
        float* sum = sums + part * dim;
        if (added == nullptr) {
          kernels::rms_norm_backward(g + first, from + first, factor, scales + row, to + first, sum, count, dim);
        } else {
          kernels::add_rms_norm_backward(g + first, added + first, from + first, factor, scales + row, to + first, sum,
                                         count, dim);
        }
      }
    });
  });
  return {grad_x, partial.sum(0).to(weight.scalar_type())};
}

/// x [..., D], weight [D], both contiguous and of one dtype with kernels; computed in fp32.
class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight, double eps) {
    const std::int64_t dim = weight.numel(), rows = x.numel() / dim;
    at::Tensor out = at::empty_like(x), scale = empty_scales(x);
    with_element_type(x, [&](auto element) {
      using T = decltype(element);
      const T *from = x.const_data_ptr<T>(), *factor = weight.const_data_ptr<T>();
      T* to = out.mutable_data_ptr<T>();
      auto* scales = scale.mutable_data_ptr<float>();
      tensor::parallel_for(0, rows, grain_of_rows(dim), [&](std::int64_t first, std::int64_t last) {
        kernels::rms_norm(from + first * dim, factor, to + first * dim, scales + first, last - first, dim, eps);
      });
    });
    context->save_for_backward({x, weight, scale});
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    refuse_second_derivative("rms_norm");
    const auto saved = context->get_saved_variables();
    const variable_list found = differentiate(grads[0].contiguous(), {}, saved[0], saved[1], saved[2]);
    return {found[0], found[1], {}};
  }
};

/// x, residual [..., D] -> the norm of their sum, the sum: one pass over memory each way. The sum is rounded as that of
/// an addition of its own, and its gradient as that of two operators.
class AddRmsNormFunction : public torch::autograd::Function<AddRmsNormFunction> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& residual,
                               const at::Tensor& weight, double eps) {
    const std::int64_t dim = weight.numel(), rows = x.numel() / dim;
    at::Tensor sum = at::empty_like(x), out = at::empty_like(x), scale = empty_scales(x);
    with_element_type(x, [&](auto element) {
      using T = decltype(element);
      const T *a = x.const_data_ptr<T>(), *b = residual.const_data_ptr<T>(), *factor = weight.const_data_ptr<T>();
      T *sums = sum.mutable_data_ptr<T>(), *to = out.mutable_data_ptr<T>();
      auto* scales = scale.mutable_data_ptr<float>();
      tensor::parallel_for(0, rows, grain_of_rows(dim), [&](std::int64_t row, std::int64_t last) {
        const std::int64_t first = row * dim;
        kernels::add_rms_norm(a + first, b + first, factor, sums + first, to + first, scales + row, last - row, dim,
                              eps);
      });
    });
    context->save_for_backward({sum, weight, scale});
    return {out, sum};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    refuse_second_derivative("rms_norm");
    const auto saved = context->get_saved_variables();
    const variable_list found =
        differentiate(grads[0].contiguous(), grads[1].contiguous(), saved[0], saved[1], saved[2]);
    return {found[0], found[0], found[1], {}};
  }
};

/// x[..., D] -> x / sqrt(mean(x^2) + eps) * weight; weight [D]. With a residual, of x + residual, which comes second.
class RmsNorm : public Leaf {
 public:
  explicit RmsNorm(LeafSetup& setup) : Leaf(setup), eps_(setup.attributes.number("eps")) {
    if (eps_ < 0) fail("attribute must not be negative: eps is ", eps_);
  }
  std::span<const ParameterRule> parameters() const override {
    static constexpr ParameterRule kRules[] = {{"weight", 1}};
    return kRules;
  }

  Tensors forward(Frame& frame, const Tensors& in) override {
    require_inputs(in, 1, 2);
    const at::Tensor &x = in[0], &weight = frame.parameter(0);
    require_floating(x, "x");
    require_size(x, -1, weight.size(0), "x");
    const bool is_ours = has_kernel(tensor::Kernel::rms_norm, x) && x.scalar_type() == weight.scalar_type();
    if (in.size() == 2) return of_sum(x, in[1], weight, is_ours);
    if (!is_ours) return {at::rms_norm(x, weight.sizes(), weight, eps_)};
    return {RmsNormFunction::apply(x.contiguous(), weight, eps_)};
  }

 private:
  Tensors of_sum(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& weight, bool is_ours) const {
    require_same_shape(residual, x, "residual");
    if (residual.scalar_type() != x.scalar_type()) {
      fail("inputs must have one dtype: residual is ", c10::toString(residual.scalar_type()), " beside ",
           c10::toString(x.scalar_type()));
    }
    if (is_ours) return AddRmsNormFunction::apply(x.contiguous(), residual.contiguous(), weight, eps_);
    const at::Tensor sum = x + residual;
    return {at::rms_norm(sum, weight.sizes(), weight, eps_), sum};
  }

  double eps_;
};

}  // namespace

std::unique_ptr<Leaf> make_rms_norm(LeafSetup& setup) { return std::make_unique<RmsNorm>(setup); }

}  // namespace titan::nn
