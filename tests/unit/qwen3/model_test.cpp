#include "plugins/qwen3/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/qwen3/built.hpp"

namespace titan::qwen3 {
namespace {

using ::testing::ElementsAre;
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

Shapes shapes_of(const Built& built) {
  Shapes shapes;
  for (const auto& [name, parameter] : built.tree.parameters()) shapes[name] = parameter.shape;
  return shapes;
}

TEST(Qwen3Model, NamesAndShapesAreTorchtitans) {
  const Built built("qwen3_debugmodel", {{"model.n_layers", "1"}});
  EXPECT_EQ(shapes_of(built), (Shapes{{"tok_embeddings.weight", {2048, 256}},
                                      {"layers.0.attention.wq.weight", {512, 256}},
                                      {"layers.0.attention.wk.weight", {256, 256}},
                                      {"layers.0.attention.wv.weight", {256, 256}},
                                      {"layers.0.attention.wo.weight", {256, 512}},
                                      {"layers.0.attention.q_norm.weight", {64}},
                                      {"layers.0.attention.k_norm.weight", {64}},
                                      {"layers.0.feed_forward.w1.weight", {768, 256}},
                                      {"layers.0.feed_forward.w2.weight", {256, 768}},
                                      {"layers.0.feed_forward.w3.weight", {768, 256}},
                                      {"layers.0.attention_norm.weight", {256}},
                                      {"layers.0.ffn_norm.weight", {256}},
                                      {"norm.weight", {256}},
                                      {"output.weight", {2048, 256}}}));
  EXPECT_THAT(built.tree.chain(), ElementsAre("tok_embeddings", "layers.0+positions", "norm", "output"));
}

TEST(Qwen3Model, AMixtureStandsInPlaceOfTheNetwork) {
  const Built built("qwen3_debugmodel_moe", {{"model.num_shared_experts", "2"}, {"model.gate_bias", "true"}});
  Shapes shapes = shapes_of(built);
  EXPECT_EQ(shapes.count("layers.0.feed_forward.w1.weight"), 0U);
  EXPECT_THAT(shapes.at("layers.5.moe.router.gate.weight"), ElementsAre(8, 256));
  EXPECT_THAT(shapes.at("layers.5.moe.router.gate.bias"), ElementsAre(8));
  EXPECT_THAT(shapes.at("layers.5.moe.experts.w1"), ElementsAre(8, 256, 256));
  EXPECT_THAT(shapes.at("layers.5.moe.shared_experts.w1.weight"), ElementsAre(512, 256));
  EXPECT_EQ(built.tree.module("layers.0.moe.router.gate").attributes.at("top_k"), "2");
}

TEST(Qwen3Model, SplitsFollowTensorAndExpertParallelism) {
  const Built built("qwen3_debugmodel_moe");
  const auto split = [&](const char* module, std::size_t index) {
    return built.tree.module(module).parameters.at(index).data.split;
  };
  EXPECT_EQ(split("layers.0.attention.q_norm", 0), TITAN_SPLIT_HEADS);
  EXPECT_EQ(split("layers.0.attention.wo", 0), TITAN_SPLIT_ROW);
  EXPECT_EQ(split("layers.0.moe.router.gate", 0), TITAN_SPLIT_HEADS);
  EXPECT_EQ(split("layers.0.moe.experts", 0), TITAN_SPLIT_EXPERT_COLUMN);
  EXPECT_EQ(split("layers.0.moe.experts", 1), TITAN_SPLIT_EXPERT_ROW);
  EXPECT_EQ(split("layers.0.moe.experts", 2), TITAN_SPLIT_EXPERT_COLUMN);
}

TEST(Qwen3Model, TiedWeightsAreTheEmbeddings) {
  const Built built("qwen3_0.6b");
  EXPECT_THAT(built.tree.module("output").shared, ElementsAre("tok_embeddings.weight"));
  EXPECT_EQ(shapes_of(built).count("output.weight"), 0U);
}

TEST(Qwen3Model, NormsOfHeadsCanBeLeftOut) {
  const Built built("qwen3_debugmodel", {{"model.qk_norm", "false"}});
  EXPECT_EQ(shapes_of(built).count("layers.0.attention.q_norm.weight"), 0U);
}

}  // namespace
}  // namespace titan::qwen3
