#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

#include "core/optim/adamw.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/vectors.hpp"

namespace titan::optim {
namespace {

constexpr int kSteps = 6;

// The tolerance of the vectors: relative 1e-6 and absolute 1e-7.
::testing::AssertionResult agree(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor error = (actual.detach().to(at::kDouble) - expected.to(at::kDouble)).abs();
  const at::Tensor excess = error - (1e-6 * expected.to(at::kDouble).abs() + 1e-7);
  if (actual.sizes() == expected.sizes() && excess.max().item<double>() <= 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "largest error " << error.max().item<double>();
}

class AdamVectors : public ::testing::TestWithParam<std::tuple<Algorithm, Implementation>> {};

TEST_P(AdamVectors, SixStepsWithChangingRate) {
  const auto [algorithm, implementation] = GetParam();
  const std::string file = algorithm == Algorithm::adamw ? "ops/adamw.safetensors" : "ops/adam.safetensors";
  TITAN_REQUIRE_VECTORS(file);
  auto vectors = testing::load_safetensors(testing::vectors_dir() / file);
  nn::Parameter parameter;
  parameter.name = "weight";
  parameter.storage = vectors.at("param0").clone().set_requires_grad(true);
  AdamOptions options;
  options.algorithm = algorithm;
  options.lr = 1e-2;
  AdamOptimizer optimizer({&parameter}, {}, options, implementation);
  for (int step = 1; step <= kSteps; ++step) {
    const std::string number = std::to_string(step);
    parameter.gradient = vectors.at("grad" + number).clone();
    optimizer.step(1.0 - (step - 1) / 10.0);
    const AdamState& state = optimizer.groups().front().states.front();
    EXPECT_TRUE(agree(parameter.storage, vectors.at("param" + number))) << "param, step " << step;
    EXPECT_TRUE(agree(state.exp_avg, vectors.at("exp_avg" + number))) << "exp_avg, step " << step;
    EXPECT_TRUE(agree(state.exp_avg_sq, vectors.at("exp_avg_sq" + number))) << "exp_avg_sq, step " << step;
  }
}

std::string case_name(const ::testing::TestParamInfo<std::tuple<Algorithm, Implementation>>& info) {
  const auto [algorithm, implementation] = info.param;
  return std::string(name(algorithm)) + (implementation == Implementation::fused ? "Fused" : "ForLoop");
}

INSTANTIATE_TEST_SUITE_P(All, AdamVectors,
                         ::testing::Combine(::testing::Values(Algorithm::adam, Algorithm::adamw),
                                            ::testing::Values(Implementation::fused, Implementation::for_loop)),
                         case_name);

}  // namespace
}  // namespace titan::optim
