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

/// x [..., D], weight [D], both contiguous and of one dtype with kernels; computed in fp32.
class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight, double eps) {
    const std::int64_t dim = weight.numel(), rows = x.numel() / dim;
    at::Tensor out = at::empty_like(x), scale = at::empty({rows}, x.options().dtype(at::kFloat));
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
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &scale = saved[2], grad = grads[0].contiguous();
    const std::int64_t dim = weight.numel(), rows = x.numel() / dim;
    const std::int64_t parts = (rows + kRowsOfPartialSum - 1) / kRowsOfPartialSum;
    at::Tensor grad_x = at::empty_like(x), partial = at::zeros({parts, dim}, x.options().dtype(at::kFloat));
    with_element_type(x, [&](auto element) {
      using T = decltype(element);
      const T *g = grad.const_data_ptr<T>(), *from = x.const_data_ptr<T>(), *factor = weight.const_data_ptr<T>();
      T* to = grad_x.mutable_data_ptr<T>();
      const auto* scales = scale.const_data_ptr<float>();
      auto* sums = partial.mutable_data_ptr<float>();
      tensor::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part) {
          const std::int64_t first = part * kRowsOfPartialSum, count = std::min(kRowsOfPartialSum, rows - first);
          kernels::rms_norm_backward(g + first * dim, from + first * dim, factor, scales + first, to + first * dim,
                                     sums + part * dim, count, dim);
        }
      });
    });
    return {grad_x, partial.sum(0).to(weight.scalar_type()), {}};
  }
};

/// x[..., D] -> x / sqrt(mean(x^2) + eps) * weight; weight [D].
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
    require_inputs(in, 1, 1);
    const at::Tensor &x = in[0], &weight = frame.parameter(0);
    require_floating(x, "x");
    require_size(x, -1, weight.size(0), "x");
    if (!has_kernel(tensor::Kernel::rms_norm, x) || x.scalar_type() != weight.scalar_type()) {
      return {at::rms_norm(x, weight.sizes(), weight, eps_)};
    }
    return {RmsNormFunction::apply(x.contiguous(), weight, eps_)};
  }

 private:
  double eps_;
};

}  // namespace

std::unique_ptr<Leaf> make_rms_norm(LeafSetup& setup) { return std::make_unique<RmsNorm>(setup); }

}  // namespace titan::nn
