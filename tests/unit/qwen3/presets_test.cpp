#include "plugins/qwen3/presets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/qwen3/facts.hpp"
#include "tests/unit/qwen3/configured.hpp"

namespace titan::qwen3 {
namespace {

using ::testing::Not;
using ::testing::StartsWith;

std::int64_t num_parameters(const char* preset) {
  return model_facts(ConfiguredHost(preset).args(), 2048).num_parameters;
}

TEST(Qwen3Presets, HaveTheKnownNumbersOfParameters) {
  EXPECT_EQ(num_parameters("qwen3_0.6b"), 596'049'920);
  EXPECT_EQ(num_parameters("qwen3_1.7b"), 1'720'574'976);
  EXPECT_EQ(num_parameters("qwen3_4b"), 4'022'468'096);
  EXPECT_EQ(num_parameters("qwen3_8b"), 8'190'735'360);
  EXPECT_EQ(num_parameters("qwen3_14b"), 14'768'307'200);
  EXPECT_EQ(num_parameters("qwen3_32b"), 32'762'123'264);
  EXPECT_EQ(num_parameters("qwen3_30b_a3b"), 30'532'122'624);
  EXPECT_EQ(num_parameters("qwen3_235b_a22b"), 235'093'634'560);
}

TEST(Qwen3Presets, ParityHasAnOddVocabularyTwelveRowsAndBalance) {
  const ModelArgs args = ConfiguredHost("qwen3_parity_moe").args();
  EXPECT_EQ(args.num_layers, 8);
  EXPECT_EQ(args.vocab_size % 2, 1);
  EXPECT_EQ(args.moe.num_experts, 8);
  EXPECT_GT(args.moe.load_balance_coeff, 0);
  EXPECT_FALSE(ConfiguredHost("qwen3_parity").args().is_mixture());
}

TEST(Qwen3Presets, SetModelOptionsThatExist) {
  const ConfiguredHost host;
  for (const auto& preset : host.presets()) {
    EXPECT_FALSE(preset.summary.empty()) << preset.name;
    for (const std::string& option : ConfiguredHost().use_preset(preset.name))
      EXPECT_THAT(option, Not(StartsWith("model."))) << preset.name;
  }
}

}  // namespace
}  // namespace titan::qwen3
