#include "core/optim/param_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kNames = {"tok_embeddings.weight", "layers.0.attention_norm.weight",
                                         "layers.0.attention.wq.weight", "norm.weight", "output.weight"};

std::string refusal(const std::string& json) {
  try {
    assign_groups(kNames, parse_group_rules(json, {}), {});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParamGroups, WithoutRulesEverythingHasTheDefaults) {
  const auto groups = assign_groups(kNames, parse_group_rules("[]", {}), {});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].pattern, "");
  EXPECT_THAT(groups[0].members, ElementsAre(0, 1, 2, 3, 4));
}

TEST(ParamGroups, TheFirstMatchWins) {
  const auto rules = parse_group_rules(R"([{"pattern": "norm"}, {"pattern": "layers|norm"}])", {});
  const auto groups = assign_groups(kNames, rules, {});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_THAT(groups[0].members, ElementsAre(1, 3));
  EXPECT_THAT(groups[1].members, ElementsAre(2));
  EXPECT_THAT(groups[2].members, ElementsAre(0, 4));
}

TEST(ParamGroups, ACatchAllLeavesNoLastGroup) {
  const auto groups = assign_groups(kNames, parse_group_rules(R"([{"pattern": ".*"}])", {}), {});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].pattern, ".*");
}

TEST(ParamGroups, ReadsKwargsAndInheritsTheRest) {
  const AdamOptions defaults{Algorithm::adamw, 1e-3, 0.8, 0.9, 1e-7, 0.2};
  const auto rules = parse_group_rules(R"([{"pattern": "norm", "optimizer_name": "Adam",
      "optimizer_kwargs": {"lr": 1e-5, "betas": [0.5, 0.75], "weight_decay": 0}}])",
                                       defaults);
  ASSERT_EQ(rules.size(), 1u);
  const AdamOptions& read = rules[0].options;
  EXPECT_EQ(read.algorithm, Algorithm::adam);
  EXPECT_DOUBLE_EQ(read.lr, 1e-5);
  EXPECT_DOUBLE_EQ(read.beta1, 0.5);
  EXPECT_DOUBLE_EQ(read.beta2, 0.75);
  EXPECT_DOUBLE_EQ(read.eps, 1e-7);
  EXPECT_DOUBLE_EQ(read.weight_decay, 0);
}

TEST(ParamGroups, APatternWithoutMatchIsAnErrorThatShowsIt) {
  EXPECT_THAT(refusal(R"([{"pattern": "router"}])"),
              testing::AllOf(HasSubstr("matches no parameter"), HasSubstr("'router'")));
}

TEST(ParamGroups, AShadowedPatternIsAnErrorThatSaysWhy) {
  EXPECT_THAT(refusal(R"([{"pattern": "norm"}, {"pattern": "^norm"}])"),
              testing::AllOf(HasSubstr("earlier patterns"), HasSubstr("'^norm'")));
}

TEST(ParamGroups, RefusesWhatItDoesNotKnowByName) {
  EXPECT_THAT(refusal(R"([{"patern": "norm"}])"), testing::AllOf(HasSubstr("param_groups[0]"), HasSubstr("patern")));
  EXPECT_THAT(refusal(R"([{"pattern": "norm", "optimizer_kwargs": {"momentum": 0.9}}])"), HasSubstr("momentum"));
  EXPECT_THAT(refusal(R"([{"pattern": "norm", "optimizer_name": "Muon"}])"),
              testing::AllOf(HasSubstr("param_groups[0].optimizer_name"), HasSubstr("Muon")));
}

TEST(ParamGroups, RefusesMalformedEntries) {
  EXPECT_THAT(refusal("{}"), HasSubstr("list of tables"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("param_groups[0] must be a table"));
  EXPECT_THAT(refusal("[{"), HasSubstr("list of tables"));
  EXPECT_THAT(refusal(R"([{}])"), HasSubstr("needs a pattern"));
  EXPECT_THAT(refusal(R"([{"pattern": 3}])"), HasSubstr("param_groups[0].pattern"));
  EXPECT_THAT(refusal(R"([{"pattern": "norm", "optimizer_kwargs": {"lr": "x"}}])"), HasSubstr("optimizer_kwargs.lr"));
  EXPECT_THAT(refusal(R"([{"pattern": "norm", "optimizer_kwargs": {"betas": [0.9]}}])"), HasSubstr("betas"));
  EXPECT_THAT(refusal(R"([{"pattern": "norm", "optimizer_kwargs": {"betas": [0.9, 0.9], "beta1": 0.9}}])"),
              HasSubstr("either betas or"));
  EXPECT_THAT(refusal(R"([{"pattern": "norm"}, {"pattern": "x", "optimizer_kwargs": {"beta1": 1}}])"),
              HasSubstr("param_groups[1].optimizer_kwargs.beta1"));
}

}  // namespace
}  // namespace titan::optim
