#include "plugins/llama3/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "plugins/llama3/model.hpp"
#include "tests/unit/llama3/configured.hpp"
#include "tests/unit/sdk/fake_tree.hpp"

namespace titan::llama3 {
namespace {

TEST(Llama3Facts, CountsParametersAsTheTreeDeclaresThem) {
  for (const char* preset : {"llama3_debugmodel", "llama3_1b", "llama3_8b", "llama3_parity"}) {
    ConfiguredHost host(preset);
    test::FakeTree tree(host);
    Scope root(std::make_shared<const sdk::ModuleApi>(sdk::Host(host.table())), tree.handle(), TITAN_MODULE_ROOT);
    build_transformer(root, host.args());
    std::int64_t total = 0;
    for (const auto& [name, parameter] : tree.parameters())
      total += std::accumulate(parameter.shape.begin(), parameter.shape.end(), std::int64_t{1}, std::multiplies<>());
    EXPECT_EQ(model_facts(host.args(), 128).num_parameters, total) << preset;
  }
}

TEST(Llama3Facts, FlopsLeaveOutTheEmbeddingAndTheNorms) {
  const ModelArgs args = ConfiguredHost("llama3_debugmodel").args();
  const titan_model_facts facts = model_facts(args, 2048);
  const double in_products = 6163712.0 - 2048 * 256 - 13 * 256;
  EXPECT_EQ(facts.num_flops_per_token, 6 * in_products + 6.0 * 6 * 16 * 16 * 2048);
  EXPECT_LT(model_facts(args, 1024).num_flops_per_token, facts.num_flops_per_token);
}

TEST(Llama3Facts, TellsTheShape) {
  const titan_model_facts facts = model_facts(ConfiguredHost("llama3_8b").args(), 8192);
  EXPECT_EQ(facts.num_layers, 32u);
  EXPECT_EQ(facts.vocab_size, 128256);
  EXPECT_EQ(facts.dim, 4096);
  EXPECT_EQ(facts.num_heads, 32);
  EXPECT_EQ(facts.num_kv_heads, 8);
  EXPECT_EQ(facts.head_dim, 128);
}

TEST(Llama3Facts, RefusesAContextBeyondThePositions) {
  const ModelArgs args = ConfiguredHost("llama3_8b").args();
  EXPECT_NO_THROW(model_facts(args, 131072));
  try {
    model_facts(args, 131073);
    FAIL() << "no error";
  } catch (const sdk::ConfigError& error) {
    EXPECT_STREQ(error.what(), "training.max_context_length must not be above model.max_positions: 131073, 131072");
  }
}

}  // namespace
}  // namespace titan::llama3
