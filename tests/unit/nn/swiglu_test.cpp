#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "tests/unit/nn/fused_reference.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::expect_close_to_fp64;
using titan::testing::LeafTree;

TEST(Swiglu, IsCloseToFp64) {
  for (const std::int64_t size : {1, 7, 64, 1003}) {
    const at::Tensor gate = at::randn({3, 11, size}) * 4, up = at::randn({3, 11, size});
    expect_close_to_fp64("titan.swiglu", {}, {}, {gate, up}, 1, at::kFloat, 2e-6);
    expect_close_to_fp64("titan.swiglu", {}, {}, {gate, up}, 1, at::kBFloat16, 1e-2);
  }
}

TEST(Swiglu, LargeGatesStayFiniteAndNaNStays) {
  LeafTree leaf("titan.swiglu", {});
  const auto value = [&](float gate) { return leaf({at::full({1}, gate), at::ones({1})}).front().item<float>(); };
  EXPECT_EQ(value(1e30F), 1e30F);
  EXPECT_EQ(value(200), 200);
  EXPECT_NEAR(value(-200), 0, 1e-30);
  EXPECT_TRUE(std::isnan(value(NAN)));
  EXPECT_FALSE(std::isfinite(value(INFINITY)));
  EXPECT_FALSE(std::isfinite(value(-INFINITY)));
}

TEST(Swiglu, StridedInputsGiveTheSame) {
  LeafTree leaf("titan.swiglu", {});
  const at::Tensor both = at::randn({4, 12}), gate = both.slice(1, 0, 6), up = both.slice(1, 6, 12);
  EXPECT_TRUE(leaf({gate, up}).front().equal(leaf({gate.contiguous(), up.contiguous()}).front()));
}

TEST(Swiglu, ShapesMustAgree) {
  LeafTree leaf("titan.swiglu", {});
  EXPECT_THAT(
      [&] {
        leaf({at::ones({2, 3}), at::ones({2, 4})});
      },
      ThrowsMessage<PluginError>(HasSubstr("[leaf] inputs must have one shape: up has [2, 4] beside [2, 3]")));
}

}  // namespace
}  // namespace titan::nn
