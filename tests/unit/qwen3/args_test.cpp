#include "plugins/qwen3/args.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/qwen3/configured.hpp"

namespace titan::qwen3 {
namespace {

using ::testing::HasSubstr;

std::string error_of(ConfiguredHost::Settings settings) {
  try {
    ConfiguredHost("qwen3_debugmodel_moe", settings).args();
  } catch (const sdk::Error& error) {
    return std::to_string(error.code()) + ": " + error.what();
  }
  return "no error";
}

TEST(Qwen3Args, HeadDimIsItsOwn) {
  const ModelArgs args = ConfiguredHost("qwen3_debugmodel").args();
  EXPECT_NE(args.head_dim, args.dim / args.num_heads);
  EXPECT_EQ(ConfiguredHost("qwen3_debugmodel", {{"model.head_dim", "10"}}).args().head_dim, 10);
}

TEST(Qwen3Args, ADenseModelReadsNoExperts) {
  const ModelArgs args = ConfiguredHost("qwen3_debugmodel", {{"model.top_k", "100"}}).args();
  EXPECT_FALSE(args.is_mixture());
  EXPECT_EQ(args.moe.top_k, 0);
}

TEST(Qwen3Args, BalancingAndGroupsMayBeNone) {
  const MoeArgs moe = ConfiguredHost("qwen3_debugmodel_moe", {{"model.load_balance_coeff", "None"}}).args().moe;
  EXPECT_EQ(moe.load_balance_coeff, 0);
  EXPECT_EQ(moe.num_expert_groups, 0);
  EXPECT_GT(ConfiguredHost("qwen3_debugmodel_moe").args().moe.load_balance_coeff, 0);
}

TEST(Qwen3Args, WhatDoesNotFitIsRefusedByName) {
  EXPECT_THAT(error_of({{"model.n_kv_heads", "3"}}), HasSubstr("78: model.n_heads must be divisible by model.n_kv_"));
  EXPECT_THAT(error_of({{"model.head_dim", "7"}}), HasSubstr("model.head_dim must be even"));
  EXPECT_THAT(error_of({{"model.top_k", "9"}}), HasSubstr("model.top_k must not be above model.num_experts: 9, 8"));
  EXPECT_THAT(error_of({{"model.num_expert_groups", "3"}, {"model.num_limited_groups", "1"}}),
              HasSubstr("model.num_expert_groups must divide model.num_experts"));
  EXPECT_THAT(error_of({{"model.num_limited_groups", "1"}}), HasSubstr("model.num_expert_groups"));
  EXPECT_THAT(error_of({{"model.num_expert_groups", "4"}, {"model.num_limited_groups", "5"}}),
              HasSubstr("model.num_limited_groups must be 1 to model.num_expert_groups"));
}

}  // namespace
}  // namespace titan::qwen3
