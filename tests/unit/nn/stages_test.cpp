#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/nn/tree.hpp"
#include "tests/support/declare.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using titan::testing::declare;

titan_error* pass(void*, titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
  out[0] = handle::release(handle::borrow(in[0]));
  return nullptr;
}

/// Four blocks, the second one with a norm inside, and a norm beside the chain.
class Stages : public ::testing::Test {
 protected:
  Stages() {
    for (const char* name : {"a", "b", "c", "d"}) {
      const ModuleId block = tree_.add_custom(TITAN_MODULE_ROOT, name, pass, nullptr, nullptr);
      norm(block);
      tree_.add_to_chain(block, 0);
    }
    norm(tree_.add_custom(TITAN_MODULE_ROOT, "beside", pass, nullptr, nullptr));
  }

  std::vector<std::string> parameters() const {
    std::vector<std::string> names;
    for (const auto& parameter : tree_.parameters()) names.push_back(parameter->name);
    return names;
  }
  std::string refused(std::vector<Stage> stages) {
    try {
      tree_.keep_chain(std::move(stages));
    } catch (const PluginError& error) {
      return error.what();
    }
    return "accepted";
  }

  Tree tree_;

 private:
  void norm(ModuleId parent) {
    const ModuleId leaf = tree_.add_leaf(parent, "norm", "titan.rms_norm", {{"eps", 1e-5}});
    tree_.add_parameter(leaf, declare("weight", {2}));
  }
};

TEST_F(Stages, TheWholeChainIsOneAtFirst) {
  const std::vector<Stage> stages = tree_.stages();
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages[0].index, 0U);
  EXPECT_EQ(stages[0].first, 0U);
  EXPECT_EQ(stages[0].count, 4U);
}

TEST_F(Stages, ParametersOfOtherStagesAreNotHere) {
  tree_.keep_chain({{0, 0, 1}, {2, 2, 1}});
  EXPECT_THAT(parameters(), ElementsAre("a.norm.weight", "c.norm.weight"));
  const Parameter* other = tree_.find_parameter("b.norm.weight");
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(tree_.is_kept(*other));
  EXPECT_TRUE(tree_.is_kept(*tree_.find_parameter("c.norm.weight")));
  tree_.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 1);
  EXPECT_FALSE(other->storage.defined());
}

TEST_F(Stages, WhatStandsBesideTheChainBelongsToTheLastOne) {
  tree_.keep_chain({{1, 2, 2}});
  EXPECT_THAT(parameters(), ElementsAre("c.norm.weight", "d.norm.weight", "beside.norm.weight"));
}

TEST_F(Stages, StagesThatAreNoPartOfTheChainAreRefused) {
  EXPECT_THAT(refused({}), HasSubstr("at least one stage"));
  EXPECT_THAT(refused({{0, 3, 2}}), HasSubstr("no part of the chain"));
  EXPECT_THAT(refused({{0, 1, 0}}), HasSubstr("no part of the chain"));
  EXPECT_THAT(refused({{0, 9, 1}}), HasSubstr("no part of the chain"));
  EXPECT_THAT(refused({{0, 0, 2}, {1, 1, 1}}), HasSubstr("no part of the chain"));
  EXPECT_THAT(refused({{2, 0, 1}, {1, 1, 1}}), HasSubstr("ordered by index"));
  EXPECT_EQ(refused({{0, 0, 2}}), "accepted");
  EXPECT_THAT(refused({{0, 0, 2}}), HasSubstr("already"));
}

TEST_F(Stages, RunBlockByBlockGiveWhatTheChainGives) {
  const at::Tensor x = at::ones({1, 2});
  EXPECT_TRUE(tree_.forward(Stage{0, 0, 2}, x, {}).is_same(x));
  EXPECT_THROW(tree_.forward(Stage{0, 3, 2}, x, {}), InternalError);
}

}  // namespace
}  // namespace titan::nn
