#include "tests/numerics/llama3/reference.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/vectors.hpp"

namespace titan::testing {
namespace {

double max_abs(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }

/// Collects what every module of these names gives.
std::map<std::string, at::Tensor> capture(nn::Tree& tree, const NamedTensors& names, const at::Tensor& tokens) {
  std::map<std::string, at::Tensor> captured;
  for (nn::ModuleId id = 1; id < tree.num_modules(); ++id) {
    const std::string& name = tree.name(id);
    if (!names.contains(name)) continue;
    tree.attach(id, 0, [&captured, name](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
      nn::Tensors out = next(frame, in);
      captured[name] = out.at(0).detach();
      return out;
    });
  }
  tree.forward(tokens, plain_positions(tokens));
  return captured;
}

class Llama3Reference : public ::testing::TestWithParam<Reference> {
 protected:
  void require_loss(at::ScalarType dtype) {
    const NamedTensors expected = load_vectors(GetParam().file("forward.safetensors"));
    const auto llama = load_reference(GetParam(), dtype);
    const at::Tensor logits = llama->logits(expected.at("tokens"));
    EXPECT_LE(max_abs(logits - expected.at("logits")), 3e-5);
    const double sum = llama->tree().loss(logits, expected.at("labels")).item<double>();
    EXPECT_NEAR(sum / expected.at("valid_tokens").item<double>(), expected.at("loss").item<double>(), 1e-5);
  }
};

TEST_P(Llama3Reference, LogitsAndLoss) {
  TITAN_REQUIRE_REFERENCE(GetParam());
  require_loss(at::kFloat);
}

TEST_P(Llama3Reference, LogitsAndLossInFloat64) {
  TITAN_REQUIRE_REFERENCE(GetParam());
  require_loss(at::kDouble);
}

TEST_P(Llama3Reference, Gradients) {
  TITAN_REQUIRE_REFERENCE(GetParam());
  TITAN_REQUIRE_VECTORS(GetParam().file("grads.safetensors"));
  const NamedTensors batch = load_vectors(GetParam().file("forward.safetensors"));
  const NamedTensors expected = load_vectors(GetParam().file("grads.safetensors"));
  const auto llama = load_reference(GetParam());
  const at::Tensor tokens = batch.at("tokens");
  llama->accumulate(tokens, plain_positions(tokens), batch.at("labels"), 1 / batch.at("valid_tokens").item<double>());
  ASSERT_EQ(llama->parameters().size(), expected.size());
  for (const nn::Parameter* parameter : llama->parameters()) {
    const at::Tensor& gradient = expected.at(parameter->name);
    EXPECT_LE(max_abs(parameter->gradient - gradient), 3e-5 * max_abs(gradient)) << parameter->name;
  }
}

TEST_P(Llama3Reference, Activations) {
  TITAN_REQUIRE_REFERENCE(GetParam());
  TITAN_REQUIRE_VECTORS(GetParam().file("activations.safetensors"));
  const NamedTensors batch = load_vectors(GetParam().file("forward.safetensors"));
  const NamedTensors expected = load_vectors(GetParam().file("activations.safetensors"));
  const auto llama = load_reference(GetParam());
  const auto captured = capture(llama->tree(), expected, batch.at("tokens"));
  ASSERT_EQ(captured.size(), expected.size());
  for (const auto& [name, output] : captured)
    EXPECT_LE(max_abs(output - expected.at(name)), 3e-5 * max_abs(expected.at(name))) << name;
}

INSTANTIATE_TEST_SUITE_P(Vectors, Llama3Reference, ::testing::ValuesIn(references()),
                         [](const auto& param) { return param.param.name(); });

}  // namespace
}  // namespace titan::testing
