#include "core/optim/grad_norm.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

double reference(const std::vector<at::Tensor>& tensors) {
  double sum = 0;
  for (const auto& tensor : tensors) sum += tensor.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(sum);
}

TEST(GradNorm, AgreesWithFloat64InEveryDtype) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    const std::vector<at::Tensor> tensors = {at::randn({300, 257}).to(type), at::randn({13}).to(type),
                                             at::randn({}).to(type), at::randn({0, 4}).to(type)};
    EXPECT_NEAR(gradient_norm(tensors) / reference(tensors), 1.0, 1e-13) << type;
  }
}

TEST(GradNorm, KeepsWhatFloat32WouldLose) {
  // 1 + 2^-30 needs more digits than fp32 has.
  const std::vector<at::Tensor> tensors = {at::ones({1}), at::full({1 << 10}, std::ldexp(1.0, -20)).to(at::kFloat)};
  const double norm = gradient_norm(tensors);
  EXPECT_DOUBLE_EQ(norm * norm, 1.0 + std::ldexp(1.0, -30));
}

TEST(GradNorm, DoesNotOverflowWhereFloat32Squares) {
  EXPECT_NEAR(gradient_norm({at::full({4}, 1e30, at::kFloat)}), 2e30, 1e24);
}

TEST(GradNorm, TakesStridedTensors) {
  const at::Tensor all = at::randn({64, 64});
  EXPECT_NEAR(gradient_norm({all.t()}), reference({all}), 1e-12);
  EXPECT_NEAR(gradient_norm({all.slice(1, 0, 64, 2)}), reference({all.slice(1, 0, 64, 2)}), 1e-12);
}

TEST(GradNorm, DoesNotDependOnTheNumberOfThreads) {
  const std::vector<at::Tensor> tensors = {at::randn({700, 333}), at::randn({100'003}), at::randn({5})};
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double one = gradient_norm(tensors);
  at::set_num_threads(3);
  const double three = gradient_norm(tensors);
  at::set_num_threads(before);
  EXPECT_EQ(one, three);
}

TEST(GradNorm, NaNAndInfinityShow) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto type : {NormType::two, NormType::infinity}) {
    EXPECT_TRUE(std::isnan(gradient_norm({at::ones({40}), at::full({40}, nan)}, type)));
    EXPECT_TRUE(std::isnan(gradient_norm({at::full({3}, nan), at::full({40}, inf)}, type)));
    EXPECT_EQ(gradient_norm({at::ones({40}), at::full({40}, -inf)}, type), inf);
  }
}

TEST(GradNorm, InfinityNormIsTheLargestMagnitude) {
  EXPECT_EQ(gradient_norm({at::arange(100, at::kFloat), at::full({2}, -150.5)}, NormType::infinity), 150.5);
}

TEST(GradNorm, NothingHasNormZero) { EXPECT_EQ(gradient_norm({}), 0.0); }

TEST(GradNorm, RefusesAMissingGradient) { EXPECT_THROW(gradient_norm({at::Tensor()}), InternalError); }

TEST(ClipCoefficient, IsOneBelowTheLimitAndShrinksAbove) {
  EXPECT_EQ(clip_coefficient(0.5, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(clip_coefficient(4.0, 1.0), 1.0 / 4.000001);
  EXPECT_EQ(clip_coefficient(0.0, 1.0), 1.0);
  EXPECT_TRUE(std::isnan(clip_coefficient(std::nan(""), 1.0)));
  EXPECT_EQ(clip_coefficient(std::numeric_limits<double>::infinity(), 1.0), 0.0);
}

}  // namespace
}  // namespace titan::optim
