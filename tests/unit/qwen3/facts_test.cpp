#include "plugins/qwen3/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/qwen3/built.hpp"

namespace titan::qwen3 {
namespace {

TEST(Qwen3Facts, CountsParametersAsTheTreeDeclaresThem) {
  for (const char* preset :
       {"qwen3_debugmodel", "qwen3_debugmodel_moe", "qwen3_0.6b", "qwen3_8b", "qwen3_30b_a3b", "qwen3_parity_moe"}) {
    Built built(preset, {{"model.num_shared_experts", "2"}, {"model.gate_bias", "true"}});
    std::int64_t total = 0;
    for (const auto& [name, parameter] : built.tree.parameters())
      total += std::accumulate(parameter.shape.begin(), parameter.shape.end(), std::int64_t{1}, std::multiplies<>());
    EXPECT_EQ(model_facts(built.host.args(), 128).num_parameters, total) << preset;
  }
}

TEST(Qwen3Facts, OfExpertsThoseOfOneTokenWork) {
  const ModelArgs args = ConfiguredHost("qwen3_debugmodel_moe").args();
  const titan_model_facts facts = model_facts(args, 2048);
  EXPECT_EQ(facts.num_experts, 8);
  const double attention = 2.0 * 256 * 12 * 64, experts = 2 * 3.0 * 256 * 256, gate = 256.0 * 8, output = 2048.0 * 256;
  EXPECT_EQ(facts.num_flops_per_token, 6 * (6 * (attention + experts + gate) + output) + 6.0 * 6 * 8 * 64 * 2048);
  EXPECT_EQ(model_facts(ConfiguredHost("qwen3_debugmodel").args(), 2048).num_experts, 0);
}

TEST(Qwen3Facts, RefusesAContextBeyondThePositions) {
  EXPECT_THROW(model_facts(ConfiguredHost("qwen3_8b").args(), 40961), sdk::ConfigError);
}

}  // namespace
}  // namespace titan::qwen3
