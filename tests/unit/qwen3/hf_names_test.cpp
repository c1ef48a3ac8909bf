#include "plugins/qwen3/hf_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/qwen3/built.hpp"

namespace titan::qwen3 {
namespace {

const sdk::HfName& find(const std::vector<sdk::HfName>& names, const std::string& name) {
  for (const sdk::HfName& one : names)
    if (one.name == name) return one;
  throw std::out_of_range(name);
}

TEST(Qwen3HfNames, PairEveryParameterOnce) {
  for (const char* preset : {"qwen3_0.6b", "qwen3_parity", "qwen3_parity_moe"}) {
    Built built(preset);
    std::set<std::string> declared, ours, theirs;
    for (const auto& [name, parameter] : built.tree.parameters()) declared.insert(name);
    for (const sdk::HfName& one : hf_names(built.host.args())) {
      EXPECT_TRUE(ours.insert(one.name).second) << one.name;
      EXPECT_TRUE(theirs.insert(one.hf_name).second) << one.hf_name;
    }
    EXPECT_EQ(ours, declared) << preset;
  }
}

TEST(Qwen3HfNames, QueriesKeysAndTheirNormsAreRotated) {
  for (const sdk::HfName& one : hf_names(ConfiguredHost("qwen3_8b").args())) {
    const bool query = one.name.ends_with(".wq.weight"), key = one.name.ends_with(".wk.weight");
    const bool norm = one.name.ends_with(".q_norm.weight") || one.name.ends_with(".k_norm.weight");
    EXPECT_EQ(one.transform, query || key || norm ? TITAN_HF_ROPE_HALVES : TITAN_HF_SAME) << one.name;
    EXPECT_EQ(one.num_heads, query ? 32 : key ? 8 : norm ? 1 : 0) << one.name;
  }
}

TEST(Qwen3HfNames, ExpertsAreTensorsOfTheirOwnThere) {
  const auto names = hf_names(ConfiguredHost("qwen3_30b_a3b").args());
  EXPECT_EQ(find(names, "layers.47.moe.router.gate.weight").hf_name, "model.layers.47.mlp.gate.weight");
  const sdk::HfName& w2 = find(names, "layers.3.moe.experts.w2");
  EXPECT_EQ(w2.hf_name, "model.layers.3.mlp.experts.*.down_proj.weight");
  EXPECT_EQ(w2.transform, TITAN_HF_STACKED);
  EXPECT_EQ(w2.num_heads, 128);
}

TEST(Qwen3HfNames, WhatTheHubDoesNotHaveIsRefused) {
  EXPECT_THROW(hf_names(ConfiguredHost("qwen3_debugmodel_moe", {{"model.num_shared_experts", "1"}}).args()),
               sdk::ConfigError);
  EXPECT_THROW(hf_names(ConfiguredHost("qwen3_debugmodel_moe", {{"model.gate_bias", "true"}}).args()),
               sdk::ConfigError);
}

}  // namespace
}  // namespace titan::qwen3
