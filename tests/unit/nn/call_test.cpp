#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
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

/// Doubles its input and counts its calls in `self`.
titan_error* twice(void* self, titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
  ++*static_cast<int*>(self);
  out[0] = handle::release(handle::borrow(in[0]) * 2);
  return nullptr;
}

class Calls : public ::testing::Test {
 protected:
  Calls() : module_(tree_.add_custom(TITAN_MODULE_ROOT, "m", twice, &calls_, nullptr)) {}

  /// An interceptor that writes `name` down before and after.
  Around noting(const std::string& name) {
    return [this, name](Frame& frame, Next next, const Tensors& in) {
      notes_.push_back(name + "(");
      auto out = next(frame, in);
      notes_.push_back(")" + name);
      return out;
    };
  }

  Tree tree_;
  int calls_ = 0;
  ModuleId module_;
  std::vector<std::string> notes_;
};

TEST_F(Calls, InterceptorsRunByPriorityThenInOrder) {
  tree_.attach(module_, 20, noting("inner"));
  tree_.attach(module_, 10, noting("outer"));
  tree_.attach(module_, 20, noting("innermost"));
  EXPECT_EQ(tree_.call(module_, {at::ones({1})}).front().item<float>(), 2.0F);
  EXPECT_THAT(notes_, ElementsAre("outer(", "inner(", "innermost(", ")innermost", ")inner", ")outer"));
}

TEST_F(Calls, NextMayBeCalledTwiceKeptOrLeftOut) {
  tree_.attach(module_, 10, [](Frame& frame, Next next, const Tensors& in) {
    const Next kept = next;
    return kept(frame, next(frame, in));
  });
  tree_.attach(module_, 20, noting("a"));
  EXPECT_EQ(tree_.call(module_, {at::ones({1})}).front().item<float>(), 4.0F);
  EXPECT_EQ(calls_, 2);
  EXPECT_THAT(notes_, ElementsAre("a(", ")a", "a(", ")a"));
  tree_.attach(module_, 0, [](Frame&, Next, const Tensors& in) { return in; });
  EXPECT_EQ(tree_.call(module_, {at::ones({1})}).front().item<float>(), 1.0F);
  EXPECT_EQ(calls_, 2);
}

TEST_F(Calls, WrongNumberOfOutputsNamesTheModule) {
  tree_.attach(module_, 0, [](Frame&, Next, const Tensors&) { return Tensors{}; });
  EXPECT_THAT([&] { tree_.call(module_, {at::ones({1})}); },
              ::testing::ThrowsMessage<PluginError>(HasSubstr("[m] wrong number of outputs: gives 0, asked for 1")));
}

TEST_F(Calls, RootAndUnknownModulesCannotBeCalled) {
  EXPECT_THROW(tree_.call(TITAN_MODULE_ROOT, {}), PluginError);
  EXPECT_THROW(tree_.call(17, {}), PluginError);
}

TEST_F(Calls, FramesKnowTheirPlace) {
  tree_.attach(module_, 0, [this](Frame& frame, Next next, const Tensors& in) {
    EXPECT_EQ(frame.module(), module_);
    EXPECT_EQ(&frame.tree(), &tree_);
    EXPECT_NE(frame.parent(), nullptr);
    EXPECT_EQ(&frame.outermost(), frame.parent());
    return next(frame, in);
  });
  Frame outer(tree_, TITAN_MODULE_ROOT, Phase::training);
  EXPECT_EQ(&outer.outermost(), &outer);
  tree_.call(module_, {at::ones({1})}, &outer);
}

TEST_F(Calls, CallBeforeMaterialiseIsAnError) {
  const ModuleId leaf = tree_.add_leaf(TITAN_MODULE_ROOT, "leaf", "titan.linear", {});
  tree_.add_parameter(leaf, declare("weight", {1, 1}));
  EXPECT_THROW(tree_.call(leaf, {at::ones({1})}), InternalError);
}

TEST_F(Calls, ErrorsInsideLibtorchNameTheLeaf) {
  const ModuleId leaf = tree_.add_leaf(TITAN_MODULE_ROOT, "leaf", "titan.embedding", {});
  tree_.add_parameter(leaf, declare("weight", {4, 2}));
  tree_.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 0);
  EXPECT_THAT(
      [&] {
        tree_.call(leaf, {at::arange(8).view({2, 4})});
      },
      ::testing::ThrowsMessage<PluginError>(HasSubstr("[leaf] index out of range")));
}

TEST_F(Calls, ForwardRunsTheChainAndLossEndsIt) {
  Tree tree;
  const ModuleId ids = tree.add_leaf(TITAN_MODULE_ROOT, "tok_embeddings", "titan.embedding", {});
  tree.add_parameter(ids, declare("weight", {5, 3}, 0.5));
  std::size_t num_inputs = 0;
  const ModuleId block = tree.add_custom(TITAN_MODULE_ROOT, "block", twice, &calls_, nullptr);
  tree.attach(block, 0, [&](Frame& frame, Next next, const Tensors& in) {
    num_inputs = in.size();
    return next(frame, in);
  });
  const ModuleId head = tree.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {});
  tree.add_parameter(head, declare("weight", {7, 3}, 1.0));
  const ModuleId loss = tree.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {});
  tree.add_to_chain(ids, 0);
  tree.add_to_chain(block, TITAN_CHAIN_POSITIONS);
  tree.add_to_chain(head, 0);
  tree.set_loss(loss);
  tree.validate();
  tree.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 0);
  const at::Tensor tokens = at::arange(4).view({2, 2});
  const at::Tensor out = tree.forward(tokens, tokens);
  EXPECT_TRUE(out.equal(at::ones({2, 2, 7}) * 3)) << out;
  EXPECT_EQ(num_inputs, 2U);
  EXPECT_NEAR(tree.loss(out, tokens).item<double>(), 4 * std::log(7.0), 1e-5);
}

TEST(Memo, MakesAgainAfterAChangeInPlaceOnly) {
  Memo memo;
  int made = 0;
  const at::Tensor source = at::ones({2});
  const auto get = [&](std::string_view purpose) {
    return memo.get(purpose, source, [&] { return ++made, source + 1; });
  };
  EXPECT_TRUE(get("a").is_same(get("a")));
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(get("b").is_same(get("a")));
  EXPECT_EQ(made, 2);
  source.add_(1);
  EXPECT_EQ(get("a")[0].item<float>(), 3.0F);
  EXPECT_EQ(made, 3);
}

TEST_F(Calls, PhasesAreHandedDown) {
  std::vector<Phase> seen;
  tree_.attach(module_, 10, [&](Frame& frame, Next next, const Tensors& in) {
    seen.push_back(frame.phase());
    return next(frame, in);
  });
  const Tensors in{at::ones({1})};
  tree_.call(module_, in);
  tree_.recompute(module_, Next{0}, in);
  tree_.set_phase(Phase::evaluation);
  tree_.call(module_, in);
  Frame caller(tree_, TITAN_MODULE_ROOT, Phase::recomputation);
  tree_.call(module_, in, &caller);
  EXPECT_THAT(seen, ElementsAre(Phase::training, Phase::recomputation, Phase::evaluation, Phase::recomputation));
}

TEST(Memos, BelongToOneTensorInOneState) {
  Memo memo;
  at::Tensor source = at::ones({2});
  EXPECT_EQ(memo.find("twice", source), nullptr);
  memo.put("twice", source, source * 2);
  ASSERT_NE(memo.find("twice", source), nullptr);
  EXPECT_EQ(memo.find("other", source), nullptr);
  EXPECT_EQ(memo.find("twice", source.clone()), nullptr);
  source.add_(1);
  EXPECT_EQ(memo.find("twice", source), nullptr);
}

}  // namespace
}  // namespace titan::nn
