#include "core/nn/cross_entropy.hpp"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/nn/fused.hpp"
#include "core/nn/kernels/cross_entropy_kernel.hpp"
#include "core/nn/leaf.hpp"
#include "core/tensor/parallel.hpp"

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// logits [rows, V] contiguous, of a dtype with kernels; labels [rows] contiguous, below V. Keeps the logits and two
/// numbers a row, no copy of the logits in any dtype; the sum does not depend on the number of threads.
class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, const at::Tensor& labels) {
    const std::int64_t rows = logits.size(0), vocab = logits.size(1);
    at::Tensor tops = at::empty({rows}, logits.options().dtype(at::kFloat)), inverse_sums = at::empty_like(tops),
               losses = at::empty_like(tops);
    with_element_type(logits, [&](auto element) {
      const auto* from = logits.const_data_ptr<decltype(element)>();
      const auto* label = labels.const_data_ptr<std::int64_t>();
      auto *top = tops.mutable_data_ptr<float>(), *inverse = inverse_sums.mutable_data_ptr<float>(),
           *loss = losses.mutable_data_ptr<float>();
      tensor::parallel_for(0, rows, grain_of_rows(vocab), [&](std::int64_t first, std::int64_t last) {
        kernels::cross_entropy(from + first * vocab, label + first, top + first, inverse + first, loss + first,
                               last - first, vocab);
      });
    });
    context->save_for_backward({logits, labels, tops, inverse_sums});
    return losses.sum(at::kDouble).to(at::kFloat);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    refuse_second_derivative("cross_entropy");
    const auto saved = context->get_saved_variables();
    const at::Tensor &logits = saved[0], &labels = saved[1], &tops = saved[2], &inverse_sums = saved[3];
    const std::int64_t rows = logits.size(0), vocab = logits.size(1);
    const auto grad = static_cast<float>(tensor::number_in(grads[0]));
    at::Tensor grad_logits = at::empty_like(logits);
    with_element_type(logits, [&](auto element) {
      using T = decltype(element);
      const T* from = logits.const_data_ptr<T>();
      T* to = grad_logits.mutable_data_ptr<T>();
      const auto* label = labels.const_data_ptr<std::int64_t>();
      const auto *top = tops.const_data_ptr<float>(), *inverse = inverse_sums.const_data_ptr<float>();
      tensor::parallel_for(0, rows, grain_of_rows(vocab), [&](std::int64_t first, std::int64_t last) {
        kernels::cross_entropy_backward(from + first * vocab, label + first, top + first, inverse + first, grad,
                                        to + first * vocab, last - first, vocab);
      });
    });
    return {grad_logits, {}};
  }
};

/// logits [B, L, V], labels [B, L] -> [] sum of the losses of labels that are not ignored, fp32 or fp64.
class CrossEntropy : public Leaf {
 public:
  using Leaf::Leaf;

  Tensors forward(Frame&, const Tensors& in) override {
    check(in);
    const at::Tensor logits = in[0].flatten(0, 1), labels = in[1].flatten();
    if (labels.is_cpu()) check_labels(name(), labels, logits.size(1));
    if (!has_kernel(tensor::Kernel::cross_entropy, logits)) {
      const at::ScalarType type = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
      return {at::cross_entropy_loss(logits.to(type), labels, {}, at::Reduction::Sum, kIgnoredLabel)};
    }
    return {CrossEntropyFunction::apply(logits.contiguous(), labels.contiguous())};
  }

 private:
  void check(const Tensors& in) const {
    require_inputs(in, 2, 2);
    const at::Tensor &logits = in[0], &labels = in[1];
    require_dims(logits, 3, "logits");
    require_floating(logits, "logits");
    require_dims(labels, 2, "labels");
    require_int64(labels, "labels");
    require_size(labels, 0, logits.size(0), "labels");
    require_size(labels, 1, logits.size(1), "labels");
  }
};

}  // namespace

void check_labels(const std::string& module, const at::Tensor& labels, std::int64_t vocab) {
  if (!tensor::has_values(labels)) return;
  const at::Tensor flat = labels.contiguous();
  const auto* label = flat.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    if (label[i] == kIgnoredLabel || (label[i] >= 0 && label[i] < vocab)) continue;
    throw PluginError("[", module, "] label out of range: ", label[i], ", the vocabulary has ", vocab, ", ",
                      kIgnoredLabel, " is ignored");
  }
}

std::unique_ptr<Leaf> make_cross_entropy(LeafSetup& setup) { return std::make_unique<CrossEntropy>(setup); }

}  // namespace titan::nn
