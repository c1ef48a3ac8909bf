#include "core/nn/head_loss.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/nn/cross_entropy.hpp"
#include "core/nn/fused.hpp"
#include "core/nn/kernels/head_loss_kernel.hpp"
#include "core/tensor/parallel.hpp"

namespace titan::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Logits that are there at once. Small enough to stay in cache between the products that make and use them, large
// enough for products at full speed; the weight is read, and its gradient too, once for each chunk.
constexpr std::int64_t kChunkBytes = std::int64_t{8} << 20;
constexpr std::int64_t kLeastRows = 512;

std::int64_t rows_of_chunk(const at::Tensor& hidden, std::int64_t vocab) {
  const std::int64_t row_bytes = vocab * static_cast<std::int64_t>(hidden.element_size());
  return std::min(hidden.size(0), std::max(kLeastRows, kChunkBytes / std::max<std::int64_t>(row_bytes, 1)));
}

/// The gradient of the weight [V, D], over all chunks: summed in fp32 where there are several.
class WeightGradient {
 public:
  WeightGradient(const at::Tensor& weight, bool has_several) {
    sum_ = at::empty(weight.sizes(), weight.options().dtype(has_several ? at::kFloat : weight.scalar_type()));
    if (sum_.scalar_type() != weight.scalar_type()) product_ = at::empty(weight.sizes(), weight.options());
  }

  /// Adds grad_logits^T hidden of a chunk.
  void add(const at::Tensor& grad_logits, const at::Tensor& hidden) {
    const at::Tensor transposed = grad_logits.t();
    if (product_.defined()) {
      at::mm_out(product_, transposed, hidden);
      add_product();
    } else if (is_begun_) {
      sum_.addmm_(transposed, hidden);
    } else {
      at::mm_out(sum_, transposed, hidden);
    }
    is_begun_ = true;
  }

  at::Tensor take() && { return std::move(sum_); }

 private:
  void add_product() {
    if (!tensor::has_values(sum_)) return;
    auto* sum = sum_.mutable_data_ptr<float>();
    const auto* product = product_.const_data_ptr<at::BFloat16>();
    constexpr std::int64_t kGrain = 16384;
    tensor::parallel_for(0, sum_.numel(), kGrain, [&](std::int64_t first, std::int64_t last) {
      (is_begun_ ? kernels::add : kernels::convert)(product + first, sum + first, last - first);
    });
  }

  at::Tensor sum_, product_;
  bool is_begun_ = false;
};

/// What the gradients are wanted of, and what they are multiplied by.
struct Wanted {
  bool hidden, weight;
  float gradient;
};

struct Results {
  at::Tensor loss, grad_hidden, grad_weight;
};

/// Losses of a chunk's rows; with gradients wanted, its logits become their gradients.
void turn(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& losses, const Wanted& wanted) {
  const std::int64_t rows = logits.size(0), vocab = logits.size(1);
  const bool has_gradients = wanted.hidden || wanted.weight;
  with_element_type(logits, [&](auto element) {
    auto* from = logits.mutable_data_ptr<decltype(element)>();
    const auto* label = labels.const_data_ptr<std::int64_t>();
    auto* loss = losses.mutable_data_ptr<float>();
    tensor::parallel_for(0, rows, grain_of_rows(vocab), [&](std::int64_t first, std::int64_t last) {
      auto* row = from + first * vocab;
      if (has_gradients) {
        kernels::losses_and_gradients(row, label + first, wanted.gradient, loss + first, last - first, vocab);
      } else {
        kernels::losses(row, label + first, loss + first, last - first, vocab);
      }
    });
  });
}

/// In the rows' order, in fp64: the same for any number of threads.
at::Tensor sum_of_losses(const at::Tensor& losses) {
  at::Tensor sum = at::empty({}, losses.options());
  if (!tensor::has_values(losses)) return sum;
  const auto* loss = losses.const_data_ptr<float>();
  double total = 0;
  for (std::int64_t row = 0; row < losses.numel(); ++row) total += static_cast<double>(loss[row]);
  *sum.mutable_data_ptr<float>() = static_cast<float>(total);
  return sum;
}

/// hidden [rows, D], weight [V, D], labels [rows], all contiguous; nothing is recorded.
Results run(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& labels, const Wanted& wanted) {
  const std::int64_t rows = hidden.size(0), vocab = weight.size(0), most = rows_of_chunk(hidden, vocab);
  Results results;
  if (wanted.hidden) results.grad_hidden = at::empty_like(hidden);
  std::optional<WeightGradient> grad_weight;
  if (wanted.weight) grad_weight.emplace(weight, most < rows);
  const at::Tensor losses = at::empty({rows}, hidden.options().dtype(at::kFloat));
  const at::Tensor buffer = at::empty({most, vocab}, hidden.options());
  const at::Tensor weight_transposed = weight.t();
  for (std::int64_t first = 0; first < rows; first += most) {
    const std::int64_t count = std::min(most, rows - first);
    const at::Tensor part = hidden.narrow(0, first, count);
    at::Tensor logits = buffer.narrow(0, 0, count);
    at::mm_out(logits, part, weight_transposed);
    turn(logits, labels.narrow(0, first, count), losses.narrow(0, first, count), wanted);
    if (wanted.hidden) {
      at::Tensor grad_part = results.grad_hidden.narrow(0, first, count);
      at::mm_out(grad_part, logits, weight);
    }
    if (grad_weight) grad_weight->add(logits, part);
  }
  if (grad_weight) results.grad_weight = std::move(*grad_weight).take();
  results.loss = sum_of_losses(losses);
  return results;
}

/// Works out the gradients in forward, while a chunk's logits are there: backward only multiplies them, and not even
/// that where it begins with the gradient that was expected.
class HeadLossFunction : public torch::autograd::Function<HeadLossFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& weight,
                            const at::Tensor& labels, const Wanted& wanted) {
    Results results = run(hidden, weight, labels, wanted);
    context->saved_data["hidden"] = std::move(results.grad_hidden);
    context->saved_data["weight"] = std::move(results.grad_weight);
    context->saved_data["type"] = weight.scalar_type();
    context->saved_data["gradient"] = static_cast<double>(wanted.gradient);
    return results.loss;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    auto& saved = context->saved_data;
    refuse_second_derivative("head_loss");
    if (saved.empty()) {
      throw PluginError("[head_loss] backward runs once through a loss: TITAN_DISABLE_KERNELS=head_loss");
    }
    const auto gradient = static_cast<float>(tensor::number_in(grads[0]));
    const float expected = static_cast<float>(saved["gradient"].toDouble());
    const at::Tensor hidden = saved["hidden"].toTensor(), weight = saved["weight"].toTensor();
    const at::ScalarType type = saved["type"].toScalarType();
    saved.clear();
    for (const at::Tensor& each : {hidden, weight}) {
      if (each.defined() && tensor::has_values(each) && gradient != expected) {
        each.mul_(static_cast<double>(gradient) / static_cast<double>(expected));
      }
    }
    return {hidden, weight.defined() ? weight.to(type) : weight, {}, {}};
  }
};

}  // namespace

bool has_head_loss(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& labels) {
  if (!hidden.is_floating_point() || !has_kernel(tensor::Kernel::head_loss, hidden)) return false;
  const bool is_a_pair = hidden.dim() == 3 && hidden.size(2) == weight.size(1) && weight.numel() > 0 &&
                         weight.scalar_type() == hidden.scalar_type() && weight.device() == hidden.device();
  const bool has_labels = labels.dim() == 2 && labels.scalar_type() == at::kLong && labels.size(0) == hidden.size(0) &&
                          labels.size(1) == hidden.size(1);
  if (!is_a_pair || !has_labels || labels.numel() == 0) return false;
  if (!at::GradMode::is_enabled() || !weight.requires_grad()) return true;
  // From forward to backward the weight's gradient is kept in place of the logits.
  return labels.numel() * static_cast<std::int64_t>(hidden.element_size()) >=
         hidden.size(2) * static_cast<std::int64_t>(sizeof(float));
}

at::Tensor head_loss(const Frame& frame, const Tensors& in, const LossTarget& target) {
  const at::Tensor& weight = frame.parameter(0);
  if (in.size() != 1 || !has_head_loss(in[0], weight, target.labels)) {
    throw PluginError("[", frame.tree().name(frame.module()),
                      "] an interceptor that declares TITAN_AROUND_ANY_OUTPUTS must pass on inputs of the same form");
  }
  check_labels(target.module, target.labels, weight.size(0));
  const at::Tensor hidden = in[0].flatten(0, 1).contiguous(), labels = target.labels.flatten().contiguous();
  const bool records = at::GradMode::is_enabled();
  const auto gradient = static_cast<float>(target.gradient);
  const Wanted wanted{records && hidden.requires_grad(), records && weight.requires_grad(),
                      std::isnormal(gradient) ? gradient : 1};
  if (!wanted.hidden && !wanted.weight) return run(hidden, weight, labels, wanted).loss;
  return HeadLossFunction::apply(hidden, weight, labels, wanted);
}

}  // namespace titan::nn
