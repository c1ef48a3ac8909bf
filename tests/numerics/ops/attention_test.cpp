#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compare.hpp"
#include "tests/support/leaf_tree.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/vectors.hpp"

namespace titan::nn {
namespace {

using titan::testing::load_safetensors;
using titan::testing::scaled_difference;

struct Case {
  const char* name;
  const char* mask;
  std::optional<double> scale;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

class AttentionVectors : public ::testing::TestWithParam<Case> {};

TEST_P(AttentionVectors, OutputAndGradients) {
  constexpr double kTolerance = 5e-6;
  const std::filesystem::path path = "ops/sdpa.safetensors";
  TITAN_REQUIRE_VECTORS(path);
  const auto vectors = load_safetensors(titan::testing::vectors_dir() / path);
  const auto at = [&](const char* name) { return vectors.at(std::string(GetParam().name) + "." + name); };
  std::map<std::string, Attribute> attributes{{"mask", GetParam().mask}};
  if (GetParam().scale) attributes["scale"] = *GetParam().scale;
  titan::testing::LeafTree attention("titan.attention", attributes);
  // The vectors lie as [B, heads, L, H], the module takes [B, L, heads, H].
  std::map<std::string, at::Tensor> leaves;
  for (const char* name : {"q", "k", "v"}) leaves[name] = at(name).clone().requires_grad_(true);
  const auto swap = [](const at::Tensor& x) { return x.transpose(1, 2); };
  const at::Tensor out = swap(attention({swap(leaves["q"]), swap(leaves["k"]), swap(leaves["v"])}).front());
  EXPECT_LE(scaled_difference(out, at("out")), kTolerance);
  out.backward(at("grad_out"));
  for (const auto& [name, leaf] : leaves) {
    EXPECT_LE(scaled_difference(leaf.grad(), at(("grad_" + name).c_str())), kTolerance) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, AttentionVectors,
                         ::testing::Values(Case{"gqa", "causal", std::nullopt}, Case{"mha", "causal", std::nullopt},
                                           Case{"mqa_scale", "causal", 0.3},
                                           Case{"gqa_not_causal", "none", std::nullopt},
                                           Case{"causal_q5_k9", "causal", std::nullopt}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace titan::nn
