#include "plugins/llama3/presets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/llama3/facts.hpp"
#include "tests/unit/llama3/configured.hpp"

namespace titan::llama3 {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

std::int64_t num_parameters(const char* preset) {
  return model_facts(ConfiguredHost(preset).args(), 2048).num_parameters;
}

/// The value a preset gives an option, through its bases; "" where it gives none.
std::string value_of(const char* preset, std::string_view option) {
  const ConfiguredHost host;
  for (std::string name = preset; !name.empty(); name = host.preset(name).base)
    for (const auto& [key, value] : host.preset(name).settings)
      if (key == option) return value;
  return "";
}

TEST(Llama3Presets, AreNamedAsTorchtitansConfigurations) {
  const ConfiguredHost host;
  std::vector<std::string> names;
  for (const auto& preset : host.presets()) names.push_back(preset.name);
  EXPECT_THAT(names, ElementsAre("llama3_debugmodel", "llama3_1b", "llama3_3b", "llama3_8b", "llama3_70b",
                                 "llama3_405b", "llama3_parity"));
}

TEST(Llama3Presets, HaveTheKnownNumbersOfParameters) {
  EXPECT_EQ(num_parameters("llama3_debugmodel"), 6'163'712);
  EXPECT_EQ(num_parameters("llama3_8b"), 8'030'261'248);
  EXPECT_EQ(num_parameters("llama3_70b"), 70'553'706'496);
  EXPECT_EQ(num_parameters("llama3_405b"), 405'853'388'800);
  EXPECT_EQ(num_parameters("llama3_1b"), 1'235'814'400);
  EXPECT_EQ(num_parameters("llama3_3b"), 3'212'749'824);
}

TEST(Llama3Presets, DebugmodelIsTorchtitans) {
  const ModelArgs args = ConfiguredHost("llama3_debugmodel").args();
  EXPECT_EQ(args.dim, 256);
  EXPECT_EQ(args.num_layers, 6);
  EXPECT_EQ(args.num_heads, 16);
  EXPECT_EQ(args.num_kv_heads, 16);
  EXPECT_EQ(args.vocab_size, 2048);
  EXPECT_EQ(args.hidden_dim, 768);
  EXPECT_EQ(args.rope.theta, 500000);
  EXPECT_EQ(args.rope.scaling->factor, 8);
  EXPECT_EQ(args.attn_mask_type, "causal");
  EXPECT_TRUE(args.depth_init);
  EXPECT_EQ(value_of("llama3_debugmodel", "training.steps"), "10");
  EXPECT_EQ(value_of("llama3_debugmodel", "training.num_tokens_per_microbatch_per_dp_rank"), "16384");
  EXPECT_EQ(value_of("llama3_debugmodel", "training.max_context_length"), "2048");
  EXPECT_EQ(std::stod(value_of("llama3_debugmodel", "optimizer.lr")), 8e-4);
  EXPECT_EQ(value_of("llama3_debugmodel", "lr_scheduler.warmup_steps"), "2");
  EXPECT_EQ(value_of("llama3_debugmodel", "lr_scheduler.decay_ratio"), "0.8");
  EXPECT_EQ(value_of("llama3_debugmodel", "metrics.log_freq"), "1");
}

TEST(Llama3Presets, LargeSizesKeepTorchtitansTrainingSettings) {
  EXPECT_EQ(std::stod(value_of("llama3_8b", "optimizer.lr")), 3e-4);
  EXPECT_EQ(value_of("llama3_8b", "training.num_tokens_per_microbatch_per_dp_rank"), "8192");
  EXPECT_EQ(value_of("llama3_8b", "training.steps"), "1000");
  EXPECT_EQ(std::stod(value_of("llama3_70b", "optimizer.lr")), 1.5e-4);
  EXPECT_EQ(value_of("llama3_70b", "training.num_tokens_per_microbatch_per_dp_rank"), "65536");
  EXPECT_EQ(value_of("llama3_70b", "training.max_context_length"), "8192");
  EXPECT_EQ(std::stod(value_of("llama3_405b", "optimizer.lr")), 8e-5);
  EXPECT_EQ(value_of("llama3_405b", "training.steps"), "3000");
  EXPECT_EQ(value_of("llama3_405b", "lr_scheduler.warmup_steps"), "600");
  EXPECT_EQ(value_of("llama3_405b", "hf_assets_path"), "./assets/hf/Llama-3.1-405B");
}

TEST(Llama3Presets, SmallLlama32ScalesBy32) {
  EXPECT_EQ(ConfiguredHost("llama3_1b").args().rope.scaling->factor, 32);
  EXPECT_EQ(ConfiguredHost("llama3_3b").args().rope.scaling->factor, 32);
}

TEST(Llama3Presets, ParityHasAnOddVocabularyAndTwelveRows) {
  const ModelArgs args = ConfiguredHost("llama3_parity").args();
  EXPECT_EQ(args.num_layers, 8);
  EXPECT_EQ(args.num_heads, 8);
  EXPECT_EQ(args.num_kv_heads, 4);
  EXPECT_EQ(args.vocab_size % 2, 1);
  EXPECT_GE(args.vocab_size, 2048);
  EXPECT_EQ(std::stoll(value_of("llama3_parity", "training.num_tokens_per_microbatch_per_dp_rank")),
            12 * std::stoll(value_of("llama3_parity", "training.max_context_length")));
}

TEST(Llama3Presets, SetModelOptionsThatExist) {
  const ConfiguredHost host;
  for (const auto& preset : host.presets()) {
    EXPECT_FALSE(preset.summary.empty()) << preset.name;
    for (const std::string& option : ConfiguredHost().use_preset(preset.name))
      EXPECT_THAT(option, ::testing::Not(StartsWith("model."))) << preset.name;
  }
}

}  // namespace
}  // namespace titan::llama3
