#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/leaf_tree.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::LeafTree;

TEST(Embedding, PicksRowsAndAddsGradientsOfRepeatedOnes) {
  const at::Tensor weight = at::randn({5, 3}), ids = at::tensor({4, 1, 4, 0}, at::kLong).view({2, 2});
  LeafTree leaf("titan.embedding", {}, {{"weight", weight}});
  const at::Tensor out = leaf({ids}).front();
  EXPECT_TRUE(out[0][0].equal(weight[4]));
  EXPECT_TRUE(out[1][1].equal(weight[0]));
  out.sum().backward();
  EXPECT_TRUE(leaf.gradient("weight").select(1, 0).equal(at::tensor({1.0F, 1.0F, 0.0F, 0.0F, 2.0F})));
}

TEST(Embedding, WrongIdsAreNamed) {
  LeafTree leaf("titan.embedding", {}, {{"weight", at::randn({5, 3})}});
  EXPECT_THAT([&] { leaf({at::ones({1, 1})}); }, ThrowsMessage<PluginError>(HasSubstr("ids is Float")));
  EXPECT_THAT([&] { leaf({at::ones({4}, at::kLong)}); }, ThrowsMessage<PluginError>(HasSubstr("ids must have 2")));
  for (const std::int64_t id : {5, -1}) {
    EXPECT_THAT([&] { leaf({at::ones({1, 1}, at::kLong).mul(id)}); }, ThrowsMessage<PluginError>(HasSubstr("[leaf] ")));
  }
}

}  // namespace
}  // namespace titan::nn
