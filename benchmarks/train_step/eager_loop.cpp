#include "benchmarks/train_step/eager_loop.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <numbers>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/tensor/products.hpp"
#include "core/train/micro_batch.hpp"

namespace titan::benchmark {
namespace {

constexpr double kEps = 1e-5;
constexpr double kTheta = 500000;

// Llama 3.1's scaling of rotary frequencies, as the preset has it.
at::Tensor rotation_table(std::int64_t head_dim, std::int64_t length) {
  constexpr double kFactor = 8, kLow = 1, kHigh = 4, kOriginal = 8192;
  const at::Tensor plain = 1.0 / at::pow(kTheta, at::arange(0, head_dim, 2, at::kFloat) / head_dim);
  const at::Tensor waves = 2 * std::numbers::pi / plain;
  const at::Tensor smooth = (kOriginal / waves - kLow) / (kHigh - kLow);
  at::Tensor scaled = at::where(waves > kOriginal / kLow, plain / kFactor, plain);
  const at::Tensor between = at::logical_and(waves >= kOriginal / kHigh, waves <= kOriginal / kLow);
  scaled = at::where(between, (1 - smooth) * scaled / kFactor + smooth * scaled, scaled);
  const at::Tensor angles = at::outer(at::arange(length, at::kFloat), scaled);
  return at::polar(at::ones_like(angles), angles);
}

at::Tensor rotate(const at::Tensor& x_BLNH, const at::Tensor& rotation) {
  const at::Tensor pairs = at::view_as_complex(x_BLNH.to(at::kFloat).unflatten(-1, {-1, 2}));
  return at::view_as_real(pairs * rotation).flatten(3).to(x_BLNH.scalar_type());
}

}  // namespace

EagerLoop::EagerLoop(const nn::Tree& tree, const train::RunOptions& options, std::unique_ptr<train::BatchSource> source,
                     std::int64_t num_heads)
    : options_(options), source_(std::move(source)), schedule_(options.schedule), num_heads_(num_heads) {
  for (const auto& parameter : tree.parameters()) {
    index_[parameter->name] = parameters_.size();
    parameters_.push_back(parameter->storage.detach().clone().set_requires_grad(true));
    averages_.push_back(at::zeros_like(parameters_.back()));
    squares_.push_back(at::zeros_like(parameters_.back()));
    counts_.push_back(at::zeros({}, at::kFloat));
  }
  while (index_.contains(concat("layers.", num_layers_, ".attention.wq.weight"))) ++num_layers_;
  const std::int64_t dim = weight("norm.weight").size(0);
  rotations_ = rotation_table(dim / num_heads_, options.sizes.length);
}

at::Tensor EagerLoop::weight(const std::string& name) const {
  return parameters_[index_.at(name)].to(options_.precision.compute);
}

at::Tensor EagerLoop::norm(const std::string& name, const at::Tensor& x) const {
  return at::rms_norm(x, {x.size(-1)}, weight(name + ".weight"), kEps);
}

at::Tensor EagerLoop::attention(const std::string& block, const at::Tensor& x, const at::Tensor& rotation) const {
  const auto heads = [&](const char* name) {
    return at::linear(x, weight(block + ".attention." + name + ".weight")).unflatten(-1, {num_heads_, -1});
  };
  const at::Tensor q = rotate(heads("wq"), rotation).transpose(1, 2);
  const at::Tensor k = rotate(heads("wk"), rotation).transpose(1, 2);
  const at::Tensor v = heads("wv").transpose(1, 2);
  const at::Tensor out = at::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true);
  return at::linear(out.transpose(1, 2).flatten(2), weight(block + ".attention.wo.weight"));
}

at::Tensor EagerLoop::feed_forward(const std::string& block, const at::Tensor& x) const {
  const std::string prefix = block + ".feed_forward.";
  const at::Tensor hidden =
      at::silu(at::linear(x, weight(prefix + "w1.weight"))) * at::linear(x, weight(prefix + "w3.weight"));
  return at::linear(hidden, weight(prefix + "w2.weight"));
}

at::Tensor EagerLoop::forward(const at::Tensor& tokens, const at::Tensor& positions) const {
  const at::Tensor rotation =
      rotations_.index_select(0, positions.flatten()).unflatten(0, positions.sizes()).unsqueeze(2);
  at::Tensor x = at::embedding(weight("tok_embeddings.weight"), tokens);
  for (std::int64_t layer = 0; layer < num_layers_; ++layer) {
    const std::string block = concat("layers.", layer);
    x = x + attention(block, norm(block + ".attention_norm", x), rotation);
    x = x + feed_forward(block, norm(block + ".ffn_norm", x));
  }
  return at::linear(norm("norm", x), weight("output.weight"));
}

double EagerLoop::clip() {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
  const at::Tensor total = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
  at::_foreach_mul_(gradients, (options_.max_norm / (total + 1e-6)).clamp_max(1.0));
  return total.item<double>();
}

void EagerLoop::update(double lr) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
  at::_foreach_add_(counts_, 1);
  const optim::AdamOptions& o = options_.optimizer.defaults;
  at::_fused_adamw_(parameters_, gradients, averages_, squares_, {}, counts_, lr, o.beta1, o.beta2, o.weight_decay,
                    o.eps, false, false, std::nullopt, std::nullopt);
}

train::StepResult EagerLoop::step() {
  const tensor::WithoutFastProducts as_libtorch_does;
  train::StepResult result;
  double last = monotonic_seconds();
  const auto lap = [&](double& seconds) { seconds = monotonic_seconds() - std::exchange(last, monotonic_seconds()); };
  std::optional<data::Batch> batch = source_->next();
  TITAN_CHECK(batch.has_value(), "the data ended");
  lap(result.seconds.data);
  const train::MicroBatch tensors = train::view(*batch);
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  const at::Tensor loss =
      at::cross_entropy_loss(forward(tensors.tokens, tensors.positions).flatten(0, 1).to(at::kFloat),
                             tensors.labels.flatten(), {}, at::Reduction::Sum, -100) /
      batch->num_valid;
  result.loss = loss.item<double>();
  lap(result.seconds.forward);
  loss.backward();
  lap(result.seconds.backward);
  result.grad_norm = clip();
  result.lr = options_.optimizer.defaults.lr * schedule_.factor(steps_done_++);
  update(result.lr);
  lap(result.seconds.optimizer);
  result.step = steps_done_;
  result.num_tokens = batch->rows * batch->length;
  result.num_valid = batch->num_valid;
  return result;
}

}  // namespace titan::benchmark
