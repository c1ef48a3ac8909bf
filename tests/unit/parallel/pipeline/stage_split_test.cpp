#include "plugins/parallel/pipeline/stage_split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/parallel/pipeline/lint_rows.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::uint32_t> counts(const std::vector<titan_stage>& stages) {
  std::vector<std::uint32_t> found;
  for (const titan_stage& stage : stages) found.push_back(stage.count);
  return found;
}

template <class Body>
std::string refusal(Body body) {
  try {
    body();
    return "nothing was refused";
  } catch (const sdk::ConfigError& error) {
    return error.what();
  }
}

TEST(StageSplit, EmbeddingAndHeadCountAsOneLayerEach) {
  EXPECT_THAT(counts(split_stages({}, chain(6), 2)), ElementsAre(4U, 5U))
      << "3 layers and the embedding, 3 and the head";
  EXPECT_THAT(counts(split_stages({}, chain(6), 4)), ElementsAre(2U, 2U, 2U, 3U));
  EXPECT_THAT(counts(split_stages({}, chain(7), 4)), ElementsAre(3U, 2U, 2U, 3U)) << "the first ones take the rest";
}

TEST(StageSplit, EveryBlockIsOnOneStage) {
  for (int layers = 2; layers <= 9; ++layers) {
    for (std::int64_t stages = 2; stages <= layers + 2; ++stages) {
      std::uint32_t next = 0;
      for (const titan_stage& stage : split_stages({}, chain(layers), stages)) {
        EXPECT_EQ(stage.first, next);
        EXPECT_GT(stage.count, 0U);
        next += stage.count;
      }
      EXPECT_EQ(next, static_cast<std::uint32_t>(layers) + 3) << layers << " layers, " << stages << " stages";
    }
  }
}

TEST(StageSplit, LessLayersShiftTheBorder) {
  Options options;
  options.first_stage_less_layers = 0;
  options.last_stage_less_layers = 2;
  EXPECT_THAT(counts(split_stages(options, chain(6), 2)), ElementsAre(5U, 4U));
  options.last_stage_less_layers = 7;
  EXPECT_THAT(refusal([&] { split_stages(options, chain(6), 2); }),
              HasSubstr("last_stage_less_layers leaves nothing for stage 1: layers 6 + embedding 0 + head 7 = 13, of 2 "
                        "stages this one has 6 - 7"));
}

TEST(StageSplit, ChainsWithoutNumbersHaveLayersOnly) {
  EXPECT_THAT(counts(split_stages({}, {"a", "b", "c"}, 2)), ElementsAre(2U, 1U));
}

TEST(StageSplit, BlocksMayBeNamed) {
  Options options;
  options.modules = {"tok_embeddings", "layers.0 layers.1", "norm  output"};
  EXPECT_THAT(counts(split_stages(options, chain(2), 3)), ElementsAre(1U, 2U, 2U));
  const auto refused = [&](std::vector<std::string> modules) {
    options.modules = std::move(modules);
    return refusal([&] { split_stages(options, chain(2), 2); });
  };
  EXPECT_THAT(refused({"tok_embeddings layers.7", "norm"}),
              HasSubstr("names no block of the chain: layers.7, stage 0"));
  EXPECT_THAT(refused({"tok_embeddings layers.1", "norm"}), HasSubstr("layers.1 on stage 0, next is layers.0"));
  EXPECT_THAT(refused({"tok_embeddings layers.0", "layers.1 norm"}),
              HasSubstr("leaves out a block of the chain: output"));
  EXPECT_THAT(refused({"tok_embeddings layers.0 layers.1 norm output", " "}), HasSubstr("a stage without blocks: 1"));
}

TEST(CountStages, OneARankAndTwoWhereSchedulesRunSeveral) {
  EXPECT_EQ(count_stages({}, 4, {1, 6, 2}), 4);
  Options options;
  options.schedule = "Interleaved1F1B";
  EXPECT_EQ(count_stages(options, 4, {1, 6, 2}), 8);
}

TEST(CountStages, LayersPerStageMustFit) {
  Options options;
  options.layers_per_stage = 4;
  EXPECT_EQ(count_stages(options, 2, {1, 6, 2}), 2);
  options.layers_per_stage = 2;
  EXPECT_THAT(refusal([&] {
                count_stages(options, 2, {1, 6, 2});
              }),
              HasSubstr("1F1B runs one stage a rank: layers 6 + embedding 1 + head 1 = 8, "
                        "parallelism.pipeline_parallel_layers_per_stage 2: 4 stages / 2 ranks = 2"));
  EXPECT_THAT(refusal([&] { count_stages(options, 3, {1, 6, 2}); }), HasSubstr("4 stages, 3 ranks"));
  options.schedule = "Interleaved1F1B";
  EXPECT_EQ(count_stages(options, 2, {1, 6, 2}), 4);
  options.layers_per_stage = 4;
  EXPECT_THAT(refusal([&] { count_stages(options, 2, {1, 6, 2}); }), HasSubstr("runs at least two stages a rank"));
}

TEST(CountStages, NamedBlocksMayBeMoreThanLayersCount) {
  Options options;
  options.modules = {"tok_embeddings", "layers.0", "layers.1", "norm", "output"};
  EXPECT_EQ(count_stages(options, 5, {1, 2, 2}), 5) << "2 layers + embedding 1 + head 1 = 4";
  EXPECT_THAT(counts(split_stages(options, chain(2), 5)), ElementsAre(1U, 1U, 1U, 1U, 1U));
}

TEST(CountStages, MoreStagesThanLayersAreRefused) {
  EXPECT_THAT(refusal([] {
                count_stages({}, 9, {1, 6, 2});
              }),
              HasSubstr("more stages than layers: 9 stages, layers 6 + embedding 1 + head 1 = 8"));
}

}  // namespace
}  // namespace titan::parallel::pipeline
