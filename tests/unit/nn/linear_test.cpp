#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/leaf_tree.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::LeafTree;

TEST(Linear, MultipliesByTheTransposedWeight) {
  const at::Tensor weight = at::randn({3, 4}), x = at::randn({2, 5, 4});
  LeafTree leaf("titan.linear", {}, {{"weight", weight}});
  EXPECT_TRUE(leaf({x}).front().equal(at::linear(x, weight)));
  leaf({x}).front().sum().backward();
  EXPECT_TRUE(leaf.gradient("weight").allclose(x.flatten(0, 1).sum(0).expand({3, 4}), 1e-5, 1e-5));
}

// Large enough for the fast products, where the processor has them.
TEST(Linear, LargeProductsAndTheirGradientsAgreeWithFloat64) {
  const at::Tensor weight = at::randn({515, 509}), x = at::randn({3, 400, 509}).requires_grad_(),
                   grad = at::randn({3, 400, 515});
  LeafTree leaf("titan.linear", {}, {{"weight", weight}});
  const at::Tensor wide_weight = weight.to(at::kDouble).requires_grad_(),
                   wide_x = x.detach().to(at::kDouble).requires_grad_();
  const at::Tensor out = leaf({x}).front(), expected = at::linear(wide_x, wide_weight);
  out.backward(grad);
  expected.backward(grad.to(at::kDouble));
  EXPECT_TRUE(out.to(at::kDouble).allclose(expected, 1e-5, 1e-4));
  EXPECT_TRUE(x.grad().to(at::kDouble).allclose(wide_x.grad(), 1e-5, 1e-4));
  EXPECT_TRUE(leaf.gradient("weight").to(at::kDouble).allclose(wide_weight.grad(), 1e-5, 2e-4));
}

TEST(Linear, TakesLargeInputsOfAnyLayout) {
  const at::Tensor weight = at::randn({512, 512}), x = at::randn({512, 4, 160}).permute({1, 2, 0});
  LeafTree leaf("titan.linear", {}, {{"weight", weight}});
  const at::Tensor out = leaf({x}).front();
  EXPECT_TRUE(out.allclose(at::linear(x, weight), 1e-5, 1e-4));
  out.sum().backward();  // a gradient that is expanded
  EXPECT_TRUE(leaf.gradient("weight").allclose(x.flatten(0, 1).sum(0).expand({512, 512}), 1e-4, 1e-3));
}

TEST(Linear, WrongInputsAreNamed) {
  LeafTree leaf("titan.linear", {}, {{"weight", at::randn({3, 4})}});
  EXPECT_THAT(
      [&] {
        leaf({at::ones({2, 3})});
      },
      ThrowsMessage<PluginError>(HasSubstr("[leaf] input has the wrong size: x must have 4 in dim -1")));
  EXPECT_THAT([&] { leaf({at::ones({})}); }, ThrowsMessage<PluginError>(HasSubstr("[leaf]")));
  EXPECT_THAT([&] { leaf({}); }, ThrowsMessage<PluginError>(HasSubstr("takes 1, given 0")));
  EXPECT_THAT([&] { leaf({at::ones({2, 4}, at::kDouble)}); }, ThrowsMessage<PluginError>(HasSubstr("[leaf] ")));
}

}  // namespace
}  // namespace titan::nn
