#include <gtest/gtest.h>

#include <limits>

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
  double eps;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

class RmsNormVectors : public ::testing::TestWithParam<Case> {};

TEST_P(RmsNormVectors, OutputAndGradients) {
  constexpr double kTolerance = 1e-6;
  const std::filesystem::path path = "ops/rmsnorm.safetensors";
  TITAN_REQUIRE_VECTORS(path);
  const auto vectors = load_safetensors(titan::testing::vectors_dir() / path);
  const auto at = [&](const char* name) { return vectors.at(std::string(GetParam().name) + "." + name); };
  titan::testing::LeafTree norm("titan.rms_norm", {{"eps", GetParam().eps}}, {{"weight", at("weight")}});
  const at::Tensor x = at("x").clone().requires_grad_(true);
  const at::Tensor out = norm({x}).front();
  EXPECT_LE(scaled_difference(out, at("out")), kTolerance);
  out.backward(at("grad_out"));
  EXPECT_LE(scaled_difference(x.grad(), at("grad_x")), kTolerance);
  EXPECT_LE(scaled_difference(norm.gradient("weight"), at("grad_weight")), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Ops, RmsNormVectors,
                         ::testing::Values(Case{"eps1e-5", 1e-5}, Case{"tiny_input", 1e-5}, Case{"huge_input", 1e-5},
                                           Case{"eps_none", std::numeric_limits<float>::epsilon()}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace titan::nn
