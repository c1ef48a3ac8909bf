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
  EXPECT_THAT([&] { leaf({at::ones({2, 6}, at::kLong)}); }, ThrowsMessage<PluginError>(HasSubstr("x is Long")));
  EXPECT_THAT(
      [] {
        LeafTree negative("titan.rms_norm", {{"eps", -1.0}});
      },
      ThrowsMessage<PluginError>(HasSubstr("eps is -1")));
}

}  // namespace
}  // namespace titan::nn
