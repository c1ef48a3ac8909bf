#include "plugins/observability/profiler/module_scopes.hpp"

#include <ATen/ops/ones.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/unit/torch/strategy_fixture.hpp"

namespace titan::observability {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> scopes_begun;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
  scopes_begun.emplace_back(function.name());
  return nullptr;
}

class ModuleScopesTest : public strategy::StrategyTest, public ModuleScopes::Listener {
 protected:
  ModuleScopesTest()
      : callback_(at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::USER_SCOPE}))) {
    scopes_begun.clear();
  }
  ~ModuleScopesTest() override { at::removeCallback(callback_); }

  void module_edge() override { ++num_edges_; }
  std::shared_ptr<ModuleScopes> attach() {
    const sdk::TreeHandle tree = handle();
    auto scopes = ModuleScopes::attach(tree.host, tree.tree, *this);
    materialise();
    return scopes;
  }
  void call(std::size_t module, std::int64_t width = 2) {
    owner_.call(modules_[module], {at::ones({1, width}, at::kDouble)});
  }

  at::CallbackHandle callback_;
  int num_edges_ = 0;
};

TEST_F(ModuleScopesTest, CallsAreNamedWhileRecording) {
  const auto scopes = attach();
  call(0);
  EXPECT_THAT(scopes_begun, IsEmpty());
  scopes->set_recording(true);
  call(0);
  call(2);
  EXPECT_THAT(scopes_begun, ElementsAre("layers.0", "norm.inner"));
  EXPECT_EQ(num_edges_, 4) << "one at each begin and end";
  scopes->set_recording(false);
  call(1);
  EXPECT_EQ(scopes_begun.size(), 2U);
  EXPECT_EQ(num_edges_, 4);
}

TEST_F(ModuleScopesTest, WhatRunsAgainInBackwardIsNamedSo) {
  const auto scopes = attach();
  scopes->set_recording(true);
  owner_.recompute(modules_[1], nn::Next{0}, {at::ones({1, 2}, at::kDouble)});
  EXPECT_THAT(scopes_begun, ElementsAre("layers.1 (recomputed)"));
}

TEST_F(ModuleScopesTest, AFailureEndsTheScopeAndGoesOn) {
  const auto scopes = attach();
  scopes->set_recording(true);
  EXPECT_ANY_THROW(call(0, 3)) << "of another width";
  EXPECT_EQ(num_edges_, 2);
}

TEST_F(ModuleScopesTest, AModuleKnowsThoseAboveIt) {
  const auto forward = [](void*, titan_frame*, const titan_tensor*, std::uint32_t, titan_tensor*,
                          std::uint32_t) noexcept -> titan_error* { return nullptr; };
  const nn::ModuleId block = owner_.add_custom(TITAN_MODULE_ROOT, "block", forward, nullptr, nullptr);
  const nn::ModuleId inner = owner_.add_leaf(block, "w", "titan.linear", {});
  owner_.add_parameter(inner, testing::declare("weight", shape_, 1.0));
  const sdk::TreeHandle tree = handle();
  const auto scopes = ModuleScopes::attach(tree.host, tree.tree, *this);
  EXPECT_THAT(scopes->lineage(inner), ElementsAre(block, inner));
  EXPECT_THAT(scopes->lineage(TITAN_MODULE_ROOT), IsEmpty());
  EXPECT_EQ(scopes->name(inner), "block.w");
}

}  // namespace
}  // namespace titan::observability
