#include "benchmarks/checkpoint/state.hpp"

#include <numeric>
#include <span>
#include <utility>

#include "core/base/text.hpp"

namespace titan::benchmark {

namespace {

constexpr std::int64_t kDim = 768, kHidden = 2048, kVocabulary = 26'000, kLayers = 12;

Box whole(const std::vector<std::int64_t>& shape) { return {std::vector<std::int64_t>(shape.size(), 0), shape}; }

}  // namespace

State::State() {
  add_parameter("tok_embeddings.weight", {kVocabulary, kDim});
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    const std::string prefix = concat("layers.", layer, '.');
    for (const char* name : {"wq", "wk", "wv", "wo"})
      add_parameter(prefix + "attention." + name + ".weight", {kDim, kDim});
    for (const char* name : {"w1", "w3"}) add_parameter(prefix + "feed_forward." + name + ".weight", {kHidden, kDim});
    add_parameter(prefix + "feed_forward.w2.weight", {kDim, kHidden});
    for (const char* name : {"attention_norm", "ffn_norm"}) add_parameter(prefix + name + ".weight", {kDim});
  }
  add_parameter("norm.weight", {kDim});
  add_parameter("output.weight", {kVocabulary, kDim});
}

void State::add_parameter(const std::string& name, const std::vector<std::int64_t>& shape) {
  const std::string prefix = "optimizer.state." + name;
  for (const std::string& full : {name, prefix + ".exp_avg", prefix + ".exp_avg_sq"}) {
    Tensor tensor{{full, checkpoint::DType::f32, shape}, {}};
    tensor.values.resize(static_cast<std::size_t>(checkpoint::num_elements(shape)));
    std::iota(tensor.values.begin(), tensor.values.end(), static_cast<float>(tensors_.size()));
    size_ += tensor.values.size() * sizeof(float);
    tensors_.push_back(std::move(tensor));
  }
}

std::vector<checkpoint::HeldPart> State::held() const {
  std::vector<checkpoint::HeldPart> parts;
  for (const Tensor& tensor : tensors_) {
    parts.push_back({tensor.info, whole(tensor.info.shape), std::as_bytes(std::span(tensor.values)).data()});
  }
  return parts;
}

std::vector<checkpoint::WantedPart> State::wanted() {
  std::vector<checkpoint::WantedPart> parts;
  for (Tensor& tensor : tensors_) {
    parts.push_back({tensor.info, whole(tensor.info.shape), std::as_writable_bytes(std::span(tensor.values)).data()});
  }
  return parts;
}

}  // namespace titan::benchmark
