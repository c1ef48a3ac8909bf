#include "plugins/llama3/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/llama3/configured.hpp"
#include "tests/unit/sdk/fake_tree.hpp"

namespace titan::llama3 {
namespace {

using test::FakeTree;
using ::testing::ElementsAre;

class Llama3Model : public ::testing::Test {
 protected:
  void build(const char* preset, ConfiguredHost::Settings settings = {}) {
    host_ = std::make_unique<ConfiguredHost>(preset, settings);
    tree_ = std::make_unique<FakeTree>(*host_);
    Scope root(std::make_shared<const sdk::ModuleApi>(sdk::Host(host_->table())), tree_->handle(), TITAN_MODULE_ROOT);
    build_transformer(root, host_->args());
  }
  const FakeTree::Parameter& weight(const std::string& module) { return tree_->module(module).parameters.at(0); }
  ~Llama3Model() override {
    tree_.reset();
    EXPECT_EQ(FakeTree::live_tensors(), 0);
  }

  std::unique_ptr<ConfiguredHost> host_;
  std::unique_ptr<FakeTree> tree_;
};

TEST_F(Llama3Model, ChainIsEmbeddingBlocksNormOutput) {
  build("llama3_debugmodel", {{"model.n_layers", "3"}});
  EXPECT_THAT(tree_->chain(), ElementsAre("tok_embeddings", "layers.0+positions", "layers.1+positions",
                                          "layers.2+positions", "norm", "output"));
  EXPECT_EQ(tree_->loss(), "loss");
}

TEST_F(Llama3Model, NamesAndShapesAreTorchtitans) {
  build("llama3_debugmodel", {{"model.n_kv_heads", "4"}, {"model.n_layers", "1"}});
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& [name, parameter] : tree_->parameters()) shapes[name] = parameter.shape;
  const std::map<std::string, std::vector<std::int64_t>> expected{
      {"tok_embeddings.weight", {2048, 256}},
      {"layers.0.attention.wq.weight", {256, 256}},
      {"layers.0.attention.wk.weight", {64, 256}},
      {"layers.0.attention.wv.weight", {64, 256}},
      {"layers.0.attention.wo.weight", {256, 256}},
      {"layers.0.feed_forward.w1.weight", {768, 256}},
      {"layers.0.feed_forward.w2.weight", {256, 768}},
      {"layers.0.feed_forward.w3.weight", {768, 256}},
      {"layers.0.attention_norm.weight", {256}},
      {"layers.0.ffn_norm.weight", {256}},
      {"norm.weight", {256}},
      {"output.weight", {2048, 256}},
  };
  EXPECT_EQ(shapes, expected);
}

TEST_F(Llama3Model, SplitsFollowTensorParallelism) {
  build("llama3_debugmodel");
  EXPECT_EQ(weight("tok_embeddings").data.split, TITAN_SPLIT_VOCAB);
  EXPECT_EQ(weight("output").data.split, TITAN_SPLIT_VOCAB);
  for (const char* name : {"attention.wq", "attention.wk", "attention.wv", "feed_forward.w1", "feed_forward.w3"})
    EXPECT_EQ(weight(std::string("layers.5.") + name).data.split, TITAN_SPLIT_COLUMN) << name;
  for (const char* name : {"attention.wo", "feed_forward.w2"})
    EXPECT_EQ(weight(std::string("layers.5.") + name).data.split, TITAN_SPLIT_ROW) << name;
  EXPECT_EQ(weight("layers.5.ffn_norm").data.split, TITAN_SPLIT_SEQUENCE);
}

TEST_F(Llama3Model, StartsAsTorchtitans) {
  build("llama3_debugmodel");
  EXPECT_EQ(weight("tok_embeddings").data.init, TITAN_INIT_NORMAL);
  EXPECT_EQ(weight("tok_embeddings").data.std, 1);
  const titan_parameter output = weight("output").data;
  EXPECT_EQ(output.init, TITAN_INIT_TRUNC_NORMAL);
  EXPECT_DOUBLE_EQ(output.std, 1.0 / 16);
  EXPECT_DOUBLE_EQ(output.low, -3.0 / 16);
  EXPECT_DOUBLE_EQ(output.high, 3.0 / 16);
  for (int layer = 0; layer < 6; ++layer) {
    const std::string block = "layers." + std::to_string(layer) + ".";
    for (const char* name : {"attention.wq", "attention.wk", "attention.wv", "feed_forward.w1"})
      EXPECT_DOUBLE_EQ(weight(block + name).data.std, 0.02) << block << name;
    for (const char* name : {"attention.wo", "feed_forward.w2", "feed_forward.w3"})
      EXPECT_DOUBLE_EQ(weight(block + name).data.std, 0.02 / std::sqrt(2.0 * (layer + 1))) << block << name;
    EXPECT_EQ(weight(block + "attention.wq").data.low, -2);
    EXPECT_EQ(weight(block + "attention.wq").data.high, 2);
    EXPECT_EQ(weight(block + "attention_norm").data.init, TITAN_INIT_CONSTANT);
    EXPECT_EQ(weight(block + "attention_norm").data.value, 1);
  }
}

TEST_F(Llama3Model, WithoutDepthInitAllBlocksStartAlike) {
  build("llama3_debugmodel", {{"model.depth_init", "false"}});
  EXPECT_DOUBLE_EQ(weight("layers.0.attention.wo").data.std, 0.02 / std::sqrt(12.0));
  EXPECT_DOUBLE_EQ(weight("layers.5.feed_forward.w3").data.std, 0.02 / std::sqrt(12.0));
}

TEST_F(Llama3Model, LeavesGetTheirAttributes) {
  build("llama3_debugmodel", {{"model.attn_mask_type", "block_causal"}, {"model.rope_scaling_factor", "None"}});
  EXPECT_EQ(tree_->module("layers.0.attention.sdpa").attributes.at("mask"), "block_causal");
  const auto& rope = tree_->module("layers.0.attention.rope").attributes;
  EXPECT_EQ(rope.at("theta"), "500000.000000");
  EXPECT_EQ(rope.at("max_positions"), "131072");
  EXPECT_FALSE(rope.contains("scaling_factor"));
}

TEST_F(Llama3Model, ABlockRunsItsParts) {
  build("llama3_debugmodel", {{"model.n_kv_heads", "4"}});
  const titan_tensor x = FakeTree::make({2, 5, 256});
  const titan_tensor positions = FakeTree::make({2, 5});
  std::vector<titan_tensor> out(1);
  ASSERT_EQ(host_->take(tree_->call(tree_->id("layers.0"), {x, positions}, out)), "");
  EXPECT_THAT(FakeTree::sizes(out[0]), ElementsAre(2, 5, 256));
  EXPECT_THAT(tree_->calls(), ::testing::IsSupersetOf({"titan.rope", "titan.attention", "titan.swiglu"}));
  EXPECT_EQ(std::ranges::count(tree_->calls(), "titan.linear"), 7);
  EXPECT_EQ(std::ranges::count(tree_->calls(), "titan.rms_norm"), 2);
  EXPECT_EQ(std::ranges::count(tree_->calls(), "aten::add.Tensor"), 1) << "the other one is part of ffn_norm";
  for (const titan_tensor tensor : {x, positions, out[0]}) FakeTree::release(tensor);
}

}  // namespace
}  // namespace titan::llama3
