#include "titan/sdk/scope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "tests/unit/sdk/fake_tree.hpp"

namespace titan::sdk {
namespace {

using test::FakeTree;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class SdkScope : public ::testing::Test {
 protected:
  const FakeTree::Parameter& weight(std::string_view module) { return tree_.module(module).parameters.at(0); }

  test::FakeHost host_;
  FakeTree tree_{host_};
  Scope scope_{std::make_shared<const ModuleApi>(Host(host_.table())), tree_.handle(), TITAN_MODULE_ROOT};
};

TEST_F(SdkScope, LinearDeclaresItsWeight) {
  scope_.linear("wq", 8, 24, Split::column, Init::trunc_normal(0.02));
  EXPECT_EQ(tree_.module("wq").kind, "titan.linear");
  EXPECT_EQ(weight("wq").name, "weight");
  EXPECT_THAT(weight("wq").shape, ElementsAre(24, 8));
  EXPECT_EQ(weight("wq").data.split, TITAN_SPLIT_COLUMN);
  EXPECT_EQ(weight("wq").data.init, TITAN_INIT_TRUNC_NORMAL);
  EXPECT_EQ(weight("wq").data.std, 0.02);
  EXPECT_EQ(weight("wq").data.low, -2);
  EXPECT_EQ(weight("wq").data.high, 2);
}

TEST_F(SdkScope, EmbeddingSplitsByVocabulary) {
  scope_.embedding("emb", 100, 8, Init::normal(1));
  EXPECT_THAT(weight("emb").shape, ElementsAre(100, 8));
  EXPECT_EQ(weight("emb").data.split, TITAN_SPLIT_VOCAB);
  EXPECT_EQ(weight("emb").data.init, TITAN_INIT_NORMAL);
  EXPECT_EQ(weight("emb").data.std, 1);
}

TEST_F(SdkScope, NormStartsAtOne) {
  scope_.rms_norm("norm", 8, 1e-5);
  EXPECT_THAT(tree_.module("norm").attributes, ElementsAre(Pair("eps", "0.000010")));
  EXPECT_EQ(weight("norm").data.init, TITAN_INIT_CONSTANT);
  EXPECT_EQ(weight("norm").data.value, 1);
  EXPECT_EQ(weight("norm").data.split, TITAN_SPLIT_SEQUENCE);
}

TEST_F(SdkScope, NormBehindAResidualIsTheSameLeafWithTwoOutputs) {
  const ResidualNormLeaf norm = scope_.residual_rms_norm("norm", 8, 1e-5);
  static_assert(!std::is_same_v<ResidualNormLeaf, Leaf>);
  EXPECT_NE(norm.id, TITAN_MODULE_ROOT);
  EXPECT_EQ(tree_.module("norm").kind, "titan.rms_norm");
  EXPECT_EQ(weight("norm").data.split, TITAN_SPLIT_SEQUENCE);
}

TEST_F(SdkScope, RopeStatesScalingOnlyWhereThereIsOne) {
  scope_.rope("plain", {.theta = 10000, .max_positions = 64, .scaling = {}});
  EXPECT_THAT(tree_.module("plain").attributes,
              UnorderedElementsAre(Pair("theta", "10000.000000"), Pair("max_positions", "64")));
  scope_.rope("scaled", {.theta = 10000, .max_positions = 64, .scaling = RopeScaling{}});
  EXPECT_THAT(tree_.module("scaled").attributes,
              UnorderedElementsAre(Pair("theta", "10000.000000"), Pair("max_positions", "64"),
                                   Pair("scaling_factor", "8.000000"), Pair("low_freq_factor", "1.000000"),
                                   Pair("high_freq_factor", "4.000000"), Pair("original_max_positions", "8192")));
}

TEST_F(SdkScope, AttentionStatesItsMask) {
  scope_.attention("sdpa", {.mask = "block_causal", .scale = 0.25});
  EXPECT_THAT(tree_.module("sdpa").attributes,
              UnorderedElementsAre(Pair("mask", "block_causal"), Pair("scale", "0.250000")));
}

TEST_F(SdkScope, ChainAndLossNameModules) {
  scope_.chain(scope_.embedding("emb", 100, 8, Init::normal(1)));
  scope_.chain(scope_.swiglu("act"), ChainInputs::positions);
  scope_.loss(scope_.cross_entropy("loss"));
  EXPECT_THAT(tree_.chain(), ElementsAre("emb", "act+positions"));
  EXPECT_EQ(tree_.loss(), "loss");
}

}  // namespace
}  // namespace titan::sdk
