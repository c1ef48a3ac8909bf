#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/optim/grad_norm.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/vectors.hpp"

namespace titan::optim {
namespace {

constexpr const char* kFile = "ops/clip_grad_norm.safetensors";
// What the vectors were clipped to.
constexpr double kMaxNorm = 1.0;
constexpr double kMaxInfinityNorm = 0.5;

class ClipVectors : public ::testing::TestWithParam<const char*> {};

TEST_P(ClipVectors, NormAndClippedGradients) {
  TITAN_REQUIRE_VECTORS(kFile);
  const std::string name = GetParam();
  auto vectors = testing::load_safetensors(testing::vectors_dir() / kFile);
  std::vector<at::Tensor> gradients;
  for (int i = 0; i < 3; ++i) gradients.push_back(vectors.at(name + ".grad" + std::to_string(i)).clone());
  const auto type = name == "inf_norm" ? NormType::infinity : NormType::two;
  const double norm = gradient_norm(gradients, type);
  const double expected = vectors.at(name + ".total_norm").item<double>();
  if (std::isfinite(expected)) {
    EXPECT_NEAR(norm, expected, 1e-6 * expected + 1e-7);
  } else {
    EXPECT_EQ(std::isnan(norm), std::isnan(expected));
    EXPECT_EQ(std::isinf(norm), std::isinf(expected));
  }
  const double coefficient = clip_coefficient(norm, type == NormType::two ? kMaxNorm : kMaxInfinityNorm);
  for (int i = 0; i < 3; ++i) {
    const at::Tensor& reference = vectors.at(name + ".clipped" + std::to_string(i));
    EXPECT_TRUE(
        at::allclose(gradients[static_cast<std::size_t>(i)] * coefficient, reference, 1e-6, 1e-7, /*equal_nan=*/true))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClipVectors, ::testing::Values("clipped", "untouched", "inf_norm", "has_nan", "has_inf"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace titan::optim
