#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include "tests/support/compare.hpp"
#include "tests/support/leaf_tree.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/vectors.hpp"

namespace titan::nn {
namespace {

using titan::testing::load_safetensors;
using titan::testing::scaled_difference;

TEST(SwigluVectors, FeedForwardAndGradients) {
  constexpr double kTolerance = 1e-5;
  const std::filesystem::path path = "ops/swiglu.safetensors";
  TITAN_REQUIRE_VECTORS(path);
  const auto vectors = load_safetensors(titan::testing::vectors_dir() / path);
  titan::testing::LeafTree swiglu("titan.swiglu", {});
  std::map<std::string, at::Tensor> leaves;
  for (const char* name : {"x", "w1", "w2", "w3"}) leaves[name] = vectors.at(name).clone().requires_grad_(true);
  const at::Tensor gate = at::linear(leaves["x"], leaves["w1"]), up = at::linear(leaves["x"], leaves["w3"]);
  const at::Tensor out = at::linear(swiglu({gate, up}).front(), leaves["w2"]);
  EXPECT_LE(scaled_difference(out, vectors.at("out")), kTolerance);
  out.backward(vectors.at("grad_out"));
  for (const auto& [name, leaf] : leaves) {
    EXPECT_LE(scaled_difference(leaf.grad(), vectors.at("grad_" + name)), kTolerance) << name;
  }
}

}  // namespace
}  // namespace titan::nn
