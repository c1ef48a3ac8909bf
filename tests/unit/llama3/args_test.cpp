#include "plugins/llama3/args.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/llama3/configured.hpp"

namespace titan::llama3 {
namespace {

std::string error_of(ConfiguredHost::Settings settings) {
  try {
    ConfiguredHost("llama3_debugmodel", settings).args();
  } catch (const sdk::Error& error) {
    return std::to_string(error.code()) + ": " + error.what();
  }
  return "no error";
}

TEST(Llama3Args, FfnWidthFollowsTheKnownModels) {
  EXPECT_EQ(ffn_hidden_dim(64, 16, 1.0), 176);
  EXPECT_EQ(ffn_hidden_dim(256, 256, 1.0), 768);
  EXPECT_EQ(ffn_hidden_dim(2048, 1024, 1.5), 8192);
  EXPECT_EQ(ffn_hidden_dim(3072, 1024, 1.0), 8192);
  EXPECT_EQ(ffn_hidden_dim(4096, 1024, 1.3), 14336);
  EXPECT_EQ(ffn_hidden_dim(8192, 4096, 1.3), 28672);
  EXPECT_EQ(ffn_hidden_dim(16384, 4096, 1.2), 53248);
}

TEST(Llama3Args, KvHeadsAreTheQueryHeadsUnlessSet) {
  EXPECT_EQ(ConfiguredHost("llama3_debugmodel").args().num_kv_heads, 16);
  EXPECT_EQ(ConfiguredHost("llama3_debugmodel", {{"model.n_kv_heads", "4"}}).args().num_kv_heads, 4);
}

TEST(Llama3Args, HiddenDimReplacesTheRule) {
  EXPECT_EQ(ConfiguredHost("llama3_debugmodel", {{"model.hidden_dim", "700"}}).args().hidden_dim, 700);
}

TEST(Llama3Args, ScalingIsAbsentForNone) {
  EXPECT_FALSE(ConfiguredHost("llama3_8b", {{"model.rope_scaling_factor", "None"}}).args().rope.scaling);
  const auto scaling = ConfiguredHost("llama3_8b").args().rope.scaling;
  ASSERT_TRUE(scaling);
  EXPECT_EQ(scaling->factor, 8);
  EXPECT_EQ(scaling->original_max_positions, 8192);
}

TEST(Llama3Args, RefusesSizesThatDoNotFit) {
  EXPECT_EQ(error_of({{"model.n_heads", "7"}}), "78: model.dim must be divisible by model.n_heads: 256, 7");
  EXPECT_EQ(error_of({{"model.n_kv_heads", "3"}}), "78: model.n_heads must be divisible by model.n_kv_heads: 16, 3");
  EXPECT_EQ(error_of({{"model.n_kv_heads", "32"}}), "78: model.n_heads must be divisible by model.n_kv_heads: 16, 32");
  EXPECT_EQ(error_of({{"model.dim", "48"}}),
            "78: model.dim / model.n_heads must be even, because RoPE rotates pairs of features: 48 / 16 = 3");
}

TEST(Llama3Args, RefusesFrequenciesTheWrongWayRound) {
  EXPECT_EQ(error_of({{"model.rope_high_freq_factor", "1"}}),
            "78: model.rope_high_freq_factor must be above model.rope_low_freq_factor: 1, 1");
}

TEST(Llama3Args, RefusesAFeedForwardWidthBeyondAllBounds) {
  EXPECT_THAT(error_of({{"model.ffn_dim_multiplier", "1000"}, {"model.dim", "1048576"}}),
              ::testing::HasSubstr("feed-forward width"));
}

TEST(Llama3Args, EveryOptionMustMatchOnAllRanks) {
  const ConfiguredHost host;
  for (const auto& [name, option] : host.options()) {
    EXPECT_TRUE(name.starts_with("model.")) << name;
    EXPECT_TRUE(option.flags & TITAN_OPTION_MUST_MATCH) << name;
    EXPECT_FALSE(option.help.empty()) << name;
  }
}

}  // namespace
}  // namespace titan::llama3
