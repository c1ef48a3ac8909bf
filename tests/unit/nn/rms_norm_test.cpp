#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/nn/fused_reference.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::expect_close_to_fp64;
using titan::testing::LeafTree;

TEST(RmsNorm, IsCloseToFp64ForOddAndLargeSizes) {
  for (const std::int64_t dim : {3, 48, 257, 5000}) {
    const LeafTree::Parameters weight = {{"weight", at::rand({dim}) + 0.5}};
    const at::Tensor x = at::randn({2, 150, dim});
    expect_close_to_fp64("titan.rms_norm", {{"eps", 1e-5}}, weight, {x}, 1, at::kFloat, 5e-6);
    expect_close_to_fp64("titan.rms_norm", {{"eps", 1e-5}}, weight, {x}, 1, at::kBFloat16, 2e-2);
  }
}

/// Outputs, gradients of both summands and of the weight, where the sum is used behind the norm too.
Tensors run_of_sum(const LeafTree::Parameters& weight, const at::Tensor& x, const at::Tensor& residual, bool in_one) {
  LeafTree leaf("titan.rms_norm", {{"eps", 1e-5}}, weight);
  const at::Tensor a = x.detach().requires_grad_(true), b = residual.detach().requires_grad_(true);
  at::Tensor normed, sum;
  if (in_one) {
    const Tensors out = leaf({a, b}, 2);
    normed = out[0];
    sum = out[1];
  } else {
    sum = a + b;
    normed = leaf({sum}).front();
  }
  (normed.mul(x) + sum.mul(residual)).sum().backward();
  return {normed.detach(), sum.detach(), a.grad(), b.grad(), leaf.gradient("weight")};
}

TEST(RmsNorm, OfASumIsBitEqualToAdditionAndNorm) {
  for (const std::int64_t dim : {3, 64, 257, 5000}) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      const LeafTree::Parameters weight = {{"weight", (at::rand({dim}) + 0.5).to(type)}};
      const at::Tensor x = at::randn({2, 150, dim}).to(type), residual = at::randn({2, 150, dim}).to(type);
      const Tensors ours = run_of_sum(weight, x, residual, true), theirs = run_of_sum(weight, x, residual, false);
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_TRUE(ours[i].equal(theirs[i])) << c10::toString(type) << ", dim " << dim << ", result " << i;
      }
    }
  }
}

TEST(RmsNorm, OfASumIsCloseToFp64) {
  const LeafTree::Parameters weight = {{"weight", at::rand({257}) + 0.5}};
  const Tensors in{at::randn({2, 150, 257}), at::randn({2, 150, 257})};
  expect_close_to_fp64("titan.rms_norm", {{"eps", 1e-5}}, weight, in, 2, at::kFloat, 5e-6);
  expect_close_to_fp64("titan.rms_norm", {{"eps", 1e-5}}, weight, in, 2, at::kBFloat16, 2e-2);
}

TEST(RmsNorm, OfASumMayHaveAnUnusedOutput) {
  LeafTree leaf("titan.rms_norm", {{"eps", 1e-5}}, {{"weight", at::ones({6})}});
  const at::Tensor x = at::randn({4, 6}).requires_grad_(true), residual = at::randn({6, 4}).t();
  leaf({x, residual}, 2)[1].sum().backward();
  EXPECT_TRUE(x.grad().equal(at::ones({4, 6})));
}

TEST(RmsNorm, TakesStridedAndEmptyInputs) {
  LeafTree leaf("titan.rms_norm", {{"eps", 1e-5}}, {{"weight", at::ones({6})}});
  const at::Tensor x = at::randn({6, 4}).t();
  EXPECT_TRUE(leaf({x}).front().equal(leaf({x.contiguous()}).front()));
  EXPECT_EQ(leaf({at::randn({0, 6})}).front().sizes(), at::IntArrayRef({0, 6}));
}

TEST(RmsNorm, DoesNotDependOnHowManyRowsComeAtOnce) {
  LeafTree leaf("titan.rms_norm", {{"eps", 1e-5}}, {{"weight", at::rand({64})}});
  const at::Tensor x = at::randn({700, 64}), out = leaf({x}).front();
  EXPECT_TRUE(leaf({x.slice(0, 100, 101)}).front().equal(out.slice(0, 100, 101)));
}

TEST(RmsNorm, WrongInputsAndAttributesAreNamed) {
  LeafTree leaf("titan.rms_norm", {{"eps", 1e-5}}, {{"weight", at::ones({6})}});
  EXPECT_THAT(
      [&] {
        leaf({at::ones({2, 5})});
      },
      ThrowsMessage<PluginError>(HasSubstr("[leaf] input has the wrong size: x must have 6 in dim -1")));
  EXPECT_THAT(
      [&] {
        leaf({at::ones({2, 6}), at::ones({2, 5})}, 2);
      },
      ThrowsMessage<PluginError>(HasSubstr("[leaf] inputs must have one shape: residual has [2, 5]")));
  EXPECT_THAT(
      [&] {
        leaf({at::ones({2, 6}), at::ones({2, 6}, at::kDouble)}, 2);
      },
      ThrowsMessage<PluginError>(HasSubstr("[leaf] inputs must have one dtype: residual is Double")));
  EXPECT_THAT(
      [&] {
        leaf({at::ones({2, 6}), at::ones({2, 6})});
      },
      ThrowsMessage<PluginError>(HasSubstr("[leaf] wrong number of outputs: gives 2, asked for 1")));
  EXPECT_THAT([&] { leaf({at::ones({2, 6}, at::kLong)}); }, ThrowsMessage<PluginError>(HasSubstr("x is Long")));
  EXPECT_THAT(
      [] {
        LeafTree negative("titan.rms_norm", {{"eps", -1.0}});
      },
      ThrowsMessage<PluginError>(HasSubstr("eps is -1")));
}

}  // namespace
}  // namespace titan::nn
