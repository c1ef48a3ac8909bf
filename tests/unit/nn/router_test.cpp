#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/leaf_tree.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using titan::testing::LeafTree;
using Attributes = std::map<std::string, Attribute>;

constexpr std::int64_t kExperts = 6, kDim = 5, kTokens = 14;

Attributes attributes(Attributes more = {}) {
  more.insert({{"num_experts", kExperts}, {"top_k", std::int64_t{2}}, {"score_func", std::string("softmax")}});
  return more;
}

LeafTree router(const Attributes& more, at::ScalarType type = at::kFloat) {
  return LeafTree("titan.router", attributes(more), {{"weight", at::randn({kExperts, kDim}, type)}});
}

std::string error_of(const Attributes& wanted) {
  try {
    LeafTree("titan.router", wanted, {{"weight", at::zeros({kExperts, kDim})}});
  } catch (const PluginError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Router, GivesTheBestExpertsFirstWithTheirScores) {
  LeafTree leaf = router({});
  const at::Tensor x = at::randn({2, kTokens / 2, kDim});
  const Tensors out = leaf({x}, 3);
  const at::Tensor weight = leaf.tree().find_parameter("leaf.weight")->storage;
  const auto [scores, experts] = at::softmax(at::linear(x.flatten(0, 1), weight), -1).topk(2);
  EXPECT_TRUE(out[0].equal(scores));
  EXPECT_TRUE(out[1].equal(experts));
  EXPECT_TRUE(out[2].equal(at::bincount(experts.flatten(), {}, kExperts)));
  EXPECT_EQ(out[2].scalar_type(), at::kLong);
}

TEST(Router, OfEqualScoresTheFirstExpertsAreChosen) {
  LeafTree leaf("titan.router", attributes(), {{"weight", at::zeros({kExperts, kDim})}});
  const Tensors out = leaf({at::randn({kTokens, kDim})}, 3);
  EXPECT_TRUE(out[1].equal(at::tensor({0, 1}, at::kLong).expand({kTokens, 2})));
  EXPECT_EQ(out[2][0].item<std::int64_t>(), kTokens);
}

TEST(Router, ScoresAreFloat32UnlessInputsAreFloat64) {
  for (const auto& [type, expected] :
       {std::pair(at::kBFloat16, at::kFloat), std::pair(at::kFloat, at::kFloat), std::pair(at::kDouble, at::kDouble)}) {
    EXPECT_EQ(router({}, type)({at::randn({kTokens, kDim}, type)}, 3)[0].scalar_type(), expected);
  }
}

TEST(Router, GradientIsThatOfTheChosenScores) {
  LeafTree leaf = router({{"route_norm", std::int64_t{1}}, {"route_scale", 2.5}}, at::kDouble);
  const at::Tensor x = at::randn({kTokens, kDim}, at::kDouble).requires_grad_(true),
                   grad = at::randn({kTokens, 2}, at::kDouble);
  const Tensors out = leaf({x}, 3);
  out[0].backward(grad);
  const at::Tensor same = x.detach().clone().requires_grad_(true);
  const at::Tensor weight = leaf.tree().find_parameter("leaf.weight")->storage.detach().clone().requires_grad_(true);
  const at::Tensor chosen = at::softmax(at::linear(same, weight), -1).gather(1, out[1]);
  (chosen / (chosen.sum(-1, true) + 1e-20) * 2.5).backward(grad);
  EXPECT_TRUE(at::allclose(x.grad(), same.grad(), 1e-12, 1e-14));
  EXPECT_TRUE(at::allclose(leaf.gradient("weight"), weight.grad(), 1e-12, 1e-14));
}

TEST(Router, CountsTrainingAloneUntilTheStepEnds) {
  LeafTree leaf = router({{"load_balance_coeff", 0.5}});
  Tree& tree = leaf.tree();
  const at::Tensor x = at::randn({kTokens, kDim});
  const at::Tensor counts = leaf({x}, 3)[2];
  leaf({x}, 3);
  tree.recompute(1, Next{0}, {x}, 3);
  tree.set_phase(Phase::evaluation);
  leaf({x}, 3);
  ASSERT_EQ(tree.buffers().size(), 2U);
  EXPECT_EQ(tree.buffers()[0]->name, "expert_bias");
  EXPECT_TRUE(tree.buffers()[0]->is_saved);
  EXPECT_FALSE(tree.buffers()[1]->is_saved);
  EXPECT_TRUE(tree.buffers()[1]->value.equal(counts * 2));
  tree.update_buffers([](const at::Tensor&) {});
  EXPECT_EQ(tree.buffers()[1]->value.sum().item<std::int64_t>(), 0);
  const at::Tensor step = (counts.sum() - counts * kExperts).sign().to(at::kFloat) * 0.5;
  EXPECT_TRUE(at::allclose(tree.buffers()[0]->value, step - step.mean()));
}

TEST(Router, BiasChoosesAndDoesNotWeigh) {
  LeafTree leaf = router({{"load_balance_coeff", 0.5}});
  const at::Tensor x = at::randn({kTokens, kDim});
  leaf.tree().buffers()[0]->value[3].fill_(100);
  const Tensors out = leaf({x}, 3);
  EXPECT_TRUE(out[1].select(1, 0).eq(3).all().item<bool>());
  EXPECT_TRUE(out[0].lt(1).all().item<bool>());
}

TEST(Router, AStepWithoutTokensMovesNothing) {
  LeafTree leaf = router({{"load_balance_coeff", 0.5}});
  leaf.tree().update_buffers([](const at::Tensor&) {});
  EXPECT_EQ(leaf.tree().buffers()[0]->value.abs().sum().item<float>(), 0);
}

TEST(Router, GroupsLimitTheChoice) {
  LeafTree leaf = router({{"num_expert_groups", std::int64_t{3}}, {"num_limited_groups", std::int64_t{1}}});
  const at::Tensor experts = leaf({at::randn({kTokens, kDim})}, 3)[1];
  EXPECT_TRUE(experts.select(1, 0).floor_divide(2).equal(experts.select(1, 1).floor_divide(2)));
}

TEST(Router, ForcedBalanceTakesExpertsInTurn) {
  LeafTree leaf = router({{"force_load_balance", std::int64_t{1}}});
  const Tensors out = leaf({at::randn({kTokens, kDim})}, 3);
  EXPECT_TRUE(out[1].flatten().equal(at::arange(kTokens * 2, at::kLong).remainder(kExperts)));
}

TEST(Router, AttributesAreChecked) {
  EXPECT_THAT(error_of(attributes({{"top_k", std::int64_t{7}}})), HasSubstr("top_k must not be above num_experts"));
  EXPECT_THAT(error_of(attributes({{"score_func", std::string("relu")}})),
              HasSubstr("must be one of softmax, sigmoid"));
  EXPECT_THAT(error_of(attributes({{"num_expert_groups", std::int64_t{4}}, {"num_limited_groups", std::int64_t{1}}})),
              HasSubstr("must divide num_experts into groups"));
  EXPECT_THAT(error_of(attributes({{"num_expert_groups", std::int64_t{3}}, {"num_limited_groups", std::int64_t{4}}})),
              HasSubstr("num_limited_groups must be"));
  EXPECT_THAT(error_of(attributes({{"route_norm", std::int64_t{2}}})), HasSubstr("must be 0 or 1: route_norm"));
  EXPECT_THAT(error_of(attributes({{"load_balance_coeff", -1.0}})), HasSubstr("must not be negative"));
  EXPECT_THAT(error_of(attributes({{"experts", std::int64_t{2}}})), HasSubstr("unknown attribute: experts"));
}

}  // namespace
}  // namespace titan::nn
