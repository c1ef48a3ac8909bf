#include "titan/torch/tree.hpp"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include "tests/unit/torch/strategy_fixture.hpp"

namespace titan::strategy {
namespace {

using ::testing::HasSubstr;
using TreeView = StrategyTest;

TEST_F(TreeView, WalksModulesAndChain) {
  std::vector<std::string> names;
  for (const Module& module : tree_.modules()) names.emplace_back(module.name());
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0", "layers.1", "norm.inner"}));
  ASSERT_EQ(tree_.chain().size(), 2U);
  EXPECT_EQ(tree_.chain()[1].name(), "layers.1");
  EXPECT_EQ(tree_.chain()[1].kind(), "titan.linear");
  EXPECT_TRUE(tree_.chain()[1].parent().is_root());
}

TEST_F(TreeView, ReadsParameters) {
  const Parameter weight = tree_.chain()[0].parameters().at(0);
  EXPECT_EQ(weight.name(), "layers.0.weight");
  EXPECT_EQ(weight.shape(), shape_);
  EXPECT_EQ(weight.split(), TITAN_SPLIT_REPLICATE);
  EXPECT_EQ(weight.part().sizes, shape_);
  EXPECT_FALSE(weight.storage().defined());
  materialise();
  EXPECT_TRUE(weight.storage().equal(at::ones({2, 2}, at::kDouble)));
  EXPECT_EQ(tree_.precision().reduce, at::kDouble);
}

TEST_F(TreeView, PlacesParameters) {
  owner_.set_mesh(config::Mesh({1, 1, 2, 1, 1}, 2));
  const Parameter weight = tree_.chain()[0].parameters().at(0);
  weight.shard("fsdp", 0, 1, 1);
  weight.take_over(Form::both);
  materialise();
  EXPECT_EQ(weight.part().offsets, (std::vector<std::int64_t>{1, 0}));
  weight.set_compute(at::ones({2, 2}));
  weight.set_gradient(at::ones({1, 2}));
  EXPECT_EQ(weight.compute().size(0), 2);
  EXPECT_EQ(weight.gradient().size(0), 1);
  weight.mark_gradient("fsdp", Gradient::sharded);
  weight.set_gradient({});
  EXPECT_FALSE(weight.gradient().defined());
}

TEST_F(TreeView, ErrorsOfTheHostAreThrown) {
  const Parameter weight = tree_.chain()[0].parameters().at(0);
  try {
    weight.shard("tp", 5, 0, 1);
    FAIL();
  } catch (const sdk::HostError& error) {
    EXPECT_EQ(error.code(), TITAN_ERROR_INTERNAL);
    EXPECT_THAT(error.what(), HasSubstr("[layers.0.weight] no such dim"));
  }
}

}  // namespace
}  // namespace titan::strategy
