#include "plugins/observability/operators/operator_watch.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace titan::observability {
namespace {

using ::testing::Contains;
using ::testing::Pair;

std::uint32_t module_that_runs = 0;

/// Where an operator begins: its name, and which of them the watch shows then.
std::vector<std::pair<std::string, std::string>> begun;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
  begun.emplace_back(function.name(), running_operator().op);
  return nullptr;
}

/// What the watch shows inside a node, to its own thread and to another.
RunningOperator own_view, others_view;

struct Doubled : torch::autograd::Function<Doubled> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x * 2; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    own_view = running_operator();
    std::thread([activity = activity_of_this_thread()] { others_view = activity->running(); }).join();
    return {gradients[0] * 2};
  }
};

std::int64_t number_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.grad_fn()->sequence_nr()); }

class OperatorWatchTest : public testing::Test {
 protected:
  OperatorWatchTest() {
    set_module_source([]() -> std::uint32_t { return module_that_runs; });
    module_that_runs = 0;
  }
  ~OperatorWatchTest() override { set_module_source(nullptr); }

  at::Tensor x_ = at::ones({2}).requires_grad_();
};

TEST_F(OperatorWatchTest, NodesBelongToTheModuleWhoseForwardMadeThem) {
  const at::Tensor before = x_ * 2;
  const OperatorWatch watch;
  module_that_runs = 3;
  const at::Tensor inner = x_ * 2;
  module_that_runs = 5;
  const at::Tensor outer = inner + 1;
  module_that_runs = 0;
  EXPECT_EQ(module_of_node(number_of(before)), 0U) << "nobody watched";
  EXPECT_EQ(module_of_node(number_of(inner)), 3U);
  EXPECT_EQ(module_of_node(number_of(outer)), 5U);
}

TEST_F(OperatorWatchTest, InBackwardTheNodeAndTheModuleOfItsForwardAreKnown) {
  const OperatorWatch watch;
  module_that_runs = 7;
  const at::Tensor y = Doubled::apply(x_);
  module_that_runs = 0;
  y.sum().backward();
  for (const RunningOperator& seen : {own_view, others_view}) {
    EXPECT_STREQ(seen.node, "Doubled") << "without what the compiler calls it";
    EXPECT_TRUE(seen.in_backward);
    EXPECT_EQ(seen.module, 7U);
  }
  EXPECT_STREQ(running_operator().node, "");
  EXPECT_FALSE(running_operator().in_backward);
}

TEST_F(OperatorWatchTest, WhatOnlyMakesATensorIsTheOperatorThatWantedIt) {
  const OperatorWatch watch;
  begun.clear();
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  at::zeros({2});
  at::removeCallback(handle);
  EXPECT_THAT(begun, Contains(Pair("aten::zeros", "aten::zeros")));
  EXPECT_THAT(begun, Contains(Pair("aten::empty", "aten::zeros")));
  EXPECT_STREQ(running_operator().op, "") << "all have ended";
}

TEST_F(OperatorWatchTest, AScopeOfTheUserIsKnownInside) {
  const OperatorWatch watch;
  {
    at::RecordFunction scope(at::RecordScope::USER_SCOPE);
    scope.before("my loop");
    EXPECT_STREQ(running_operator().scope, "my loop");
  }
  EXPECT_STREQ(running_operator().scope, "");
}

TEST_F(OperatorWatchTest, WithoutAWatchNothingIsKnown) {
  { const OperatorWatch first, second; }
  begun.clear();
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  module_that_runs = 3;
  const at::Tensor y = x_ * 2;
  at::removeCallback(handle);
  EXPECT_THAT(begun, Contains(Pair("aten::mul", "")));
  EXPECT_EQ(module_of_node(number_of(y)), 0U);
}

TEST_F(OperatorWatchTest, DeepNestingIsFollowedBackOut) {
  const OperatorWatch watch;
  const std::string name = "level";
  {
    std::vector<std::unique_ptr<at::RecordFunction>> scopes;
    for (int depth = 0; depth < 40; ++depth) {
      scopes.push_back(std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE));
      scopes.back()->before(name + std::to_string(depth));
    }
    EXPECT_STREQ(running_operator().scope, "level31") << "as deep as it looks";
    while (!scopes.empty()) scopes.pop_back();
  }
  EXPECT_STREQ(running_operator().scope, "");
}

}  // namespace
}  // namespace titan::observability
