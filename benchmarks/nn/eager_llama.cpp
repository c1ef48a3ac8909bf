// The baseline: what one writes against libtorch without a platform.
#include <ATen/ATen.h>

#include "benchmarks/nn/tiny_model.hpp"
#include "core/tensor/products.hpp"

namespace titan::bench {
namespace {

constexpr double kEps = 1e-5, kTheta = 500000;

class EagerLlama : public Model {
 public:
  EagerLlama(const TinySizes& sizes, const Weights& weights) : sizes_(sizes) {
    for (const auto& [name, value] : weights) weights_[name] = value.clone().requires_grad_(true);
    const std::int64_t head_dim = sizes.dim / sizes.heads;
    const at::Tensor frequencies = 1 / at::pow(kTheta, at::arange(0, head_dim, 2, at::kFloat) / head_dim);
    const at::Tensor angles = at::outer(at::arange(sizes.length, at::kFloat), frequencies);
    rotation_ = at::polar(at::ones_like(angles), angles).unsqueeze(1);
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
      const std::string prefix = "layers." + std::to_string(layer) + ".";
      layers_.push_back({at(prefix + "attention_norm"), at(prefix + "attention.wq"), at(prefix + "attention.wk"),
                         at(prefix + "attention.wv"), at(prefix + "attention.wo"), at(prefix + "ffn_norm"),
                         at(prefix + "feed_forward.w1"), at(prefix + "feed_forward.w2"),
                         at(prefix + "feed_forward.w3")});
    }
    embeddings_ = at("tok_embeddings");
    norm_ = at("norm");
    output_ = at("output");
  }

  double step(const at::Tensor& tokens, const at::Tensor& labels) override {
    const tensor::WithoutFastProducts as_libtorch_does;
    at::Tensor x = at::embedding(embeddings_, tokens);
    for (const Layer& layer : layers_) x = block(layer, x);
    const at::Tensor logits = at::linear(normed(x, norm_), output_);
    const at::Tensor loss =
        at::cross_entropy_loss(logits.flatten(0, 1), labels.flatten(), {}, at::Reduction::Sum, -100);
    loss.backward();
    for (auto& [name, weight] : weights_) weight.mutable_grad().reset();
    return loss.item<double>();
  }

 private:
  struct Layer {
    at::Tensor attention_norm, wq, wk, wv, wo, ffn_norm, w1, w2, w3;
  };

  const at::Tensor& at(const std::string& module) { return weights_.at(module + ".weight"); }
  static at::Tensor normed(const at::Tensor& x, const at::Tensor& weight) {
    return at::rms_norm(x, weight.sizes(), weight, kEps);
  }
  at::Tensor rotated(const at::Tensor& x) const {
    return at::view_as_real(at::view_as_complex(x.unflatten(-1, {-1, 2})) * rotation_).flatten(-2);
  }

  at::Tensor block(const Layer& layer, const at::Tensor& x) const {
    const auto heads = [&](const at::Tensor& y) { return y.unflatten(-1, {sizes_.heads, -1}); };
    const at::Tensor n = normed(x, layer.attention_norm);
    const at::Tensor q = rotated(heads(at::linear(n, layer.wq))), k = rotated(heads(at::linear(n, layer.wk)));
    const at::Tensor v = heads(at::linear(n, layer.wv));
    const at::Tensor mixed =
        at::scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), {}, 0.0, true);
    const at::Tensor h = x + at::linear(mixed.transpose(1, 2).flatten(-2), layer.wo);
    const at::Tensor m = normed(h, layer.ffn_norm);
    return h + at::linear(at::silu(at::linear(m, layer.w1)) * at::linear(m, layer.w3), layer.w2);
  }

  TinySizes sizes_;
  Weights weights_;
  at::Tensor embeddings_, norm_, output_, rotation_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Model> make_eager_llama(const TinySizes& sizes, const Weights& weights) {
  return std::make_unique<EagerLlama>(sizes, weights);
}

}  // namespace titan::bench
