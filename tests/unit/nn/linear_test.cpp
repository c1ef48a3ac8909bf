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
