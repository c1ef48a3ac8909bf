#include "plugins/llama3/hf_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "plugins/llama3/model.hpp"
#include "tests/unit/llama3/configured.hpp"
#include "tests/unit/sdk/fake_tree.hpp"

namespace titan::llama3 {
namespace {

const sdk::HfName& find(const std::vector<sdk::HfName>& names, const std::string& name) {
  for (const sdk::HfName& one : names)
    if (one.name == name) return one;
  throw std::out_of_range(name);
}

class Llama3HfNamesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(Llama3HfNamesOf, PairEveryParameterOnce) {
  ConfiguredHost host(GetParam());
  test::FakeTree tree(host);
  Scope root(std::make_shared<const sdk::ModuleApi>(sdk::Host(host.table())), tree.handle(), TITAN_MODULE_ROOT);
  build_transformer(root, host.args());
  std::set<std::string> declared, ours, theirs;
  for (const auto& [name, parameter] : tree.parameters()) declared.insert(name);
  for (const sdk::HfName& one : hf_names(host.args())) {
    EXPECT_TRUE(ours.insert(one.name).second) << one.name;
    EXPECT_TRUE(theirs.insert(one.hf_name).second) << one.hf_name;
  }
  EXPECT_EQ(ours, declared);
}

INSTANTIATE_TEST_SUITE_P(Presets, Llama3HfNamesOf, ::testing::Values("llama3_parity", "llama3_1b"),
                         [](const auto& preset) { return preset.param; });

TEST(Llama3HfNames, AreTheHubs) {
  const auto names = hf_names(ConfiguredHost("llama3_8b").args());
  EXPECT_EQ(names.size(), 3u + 9 * 32);
  EXPECT_EQ(find(names, "tok_embeddings.weight").hf_name, "model.embed_tokens.weight");
  EXPECT_EQ(find(names, "layers.31.attention.wo.weight").hf_name, "model.layers.31.self_attn.o_proj.weight");
  EXPECT_EQ(find(names, "layers.0.feed_forward.w1.weight").hf_name, "model.layers.0.mlp.gate_proj.weight");
  EXPECT_EQ(find(names, "layers.0.feed_forward.w2.weight").hf_name, "model.layers.0.mlp.down_proj.weight");
  EXPECT_EQ(find(names, "layers.0.feed_forward.w3.weight").hf_name, "model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(find(names, "layers.7.ffn_norm.weight").hf_name, "model.layers.7.post_attention_layernorm.weight");
  EXPECT_EQ(find(names, "norm.weight").hf_name, "model.norm.weight");
  EXPECT_EQ(find(names, "output.weight").hf_name, "lm_head.weight");
}

TEST(Llama3HfNames, OnlyQueriesAndKeysAreRotated) {
  for (const sdk::HfName& one : hf_names(ConfiguredHost("llama3_8b").args())) {
    const bool query = one.name.ends_with(".wq.weight");
    const bool key = one.name.ends_with(".wk.weight");
    EXPECT_EQ(one.transform, query || key ? TITAN_HF_ROPE_HALVES : TITAN_HF_SAME) << one.name;
    EXPECT_EQ(one.num_heads, query ? 32 : key ? 8 : 0) << one.name;
  }
}

}  // namespace
}  // namespace titan::llama3
