#include "plugins/observability/profiler/backward_lane.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include <string>

#include "tests/unit/torch/strategy_fixture.hpp"

namespace titan::observability {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

nn::Tree* tree_of_thread = nullptr;

class BackwardLaneTest : public strategy::StrategyTest, public ModuleScopes::Listener {
 protected:
  BackwardLaneTest() {
    const sdk::TreeHandle tree = handle();
    scopes_ = ModuleScopes::attach(tree.host, tree.tree, *this);
    materialise();
    tree_of_thread = &owner_;
    set_module_source([]() -> std::uint32_t { return tree_of_thread->running(); });
    timeline_.begin();
  }
  ~BackwardLaneTest() override { set_module_source(nullptr); }

  void module_edge() override {}
  at::Tensor forward() {
    at::Tensor x = at::ones({1, 2}, at::kDouble);
    for (const std::size_t layer : {0U, 1U}) x = owner_.call(modules_[layer], {x}).front();
    return x;
  }
  std::string events() const { return timeline_.json(0, 1); }

  std::shared_ptr<ModuleScopes> scopes_;
  Timeline timeline_;
};

TEST_F(BackwardLaneTest, ShowsTheModulesFromTheLastToTheFirst) {
  BackwardLane lane(*scopes_, timeline_);
  const at::Tensor loss = forward().sum();
  EXPECT_TRUE(timeline_.is_empty()) << "forward is no backward";
  lane.close(R"({"step":3})");
  loss.backward();
  lane.close("{}");
  const std::string text = events();
  EXPECT_THAT(text, HasSubstr("backward of modules"));
  EXPECT_THAT(text, HasSubstr(R"("step":3)"));
  ASSERT_THAT(text, HasSubstr("layers.0"));
  ASSERT_THAT(text, HasSubstr("layers.1"));
  EXPECT_LT(text.find("layers.1"), text.find("layers.0"));
  EXPECT_THAT(text, Not(HasSubstr("norm.inner"))) << "it did not run";
}

TEST_F(BackwardLaneTest, WhatRunsAfterItIsGoneIsNotAdded) {
  at::Tensor loss;
  {
    const BackwardLane lane(*scopes_, timeline_);
    loss = forward().sum();
  }
  loss.backward();
  EXPECT_TRUE(timeline_.is_empty());
}

TEST_F(BackwardLaneTest, GraphsOfBeforeItBelongToNobody) {
  const at::Tensor loss = forward().sum();
  BackwardLane lane(*scopes_, timeline_);
  loss.backward();
  lane.close("{}");
  EXPECT_TRUE(timeline_.is_empty());
}

}  // namespace
}  // namespace titan::observability
