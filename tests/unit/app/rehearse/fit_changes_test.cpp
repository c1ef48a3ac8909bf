#include "core/app/rehearse/fit_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.hpp"
#include "core/config/option_builder.hpp"
#include "core/config/resolver.hpp"

namespace titan::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class FitChangesTest : public testing::Test {
 protected:
  /// "text: words" of each change.
  std::vector<std::string> changes(std::vector<config::Preset::Setting> settings, std::int64_t world_size) {
    config::Registry registry;
    config::add_core_options(registry);
    registry.add(config::text("activation_checkpoint.mode", "none", "Mode.").one_of({"none", "selective", "full"}));
    settings.push_back({"training.max_context_length", "128"});
    const config::Config config = config::resolve_settings(registry, settings);
    const config::Mesh mesh = config::Mesh::from(config, world_size);
    std::vector<std::string> texts;
    for (const FitChange& change : fit_changes(config, mesh, config::plan_sizes(config, mesh))) {
      texts.push_back(concat(change.text, ": ", join(words_of({change}), " ")));
    }
    return texts;
  }
};

constexpr const char* kMicroBatch = "training.num_tokens_per_microbatch_per_dp_rank";

TEST_F(FitChangesTest, MoreRecomputation) {
  const auto found = changes({{kMicroBatch, "128"}}, 1);
  EXPECT_THAT(found, Contains("activation checkpointing none -> selective: --activation_checkpoint.mode=selective"));
  EXPECT_THAT(found, Contains("activation checkpointing none -> full: --activation_checkpoint.mode=full"));
  EXPECT_EQ(found.size(), 2U);
  EXPECT_TRUE(changes({{kMicroBatch, "128"}, {"activation_checkpoint.mode", "full"}}, 1).empty());
}

TEST_F(FitChangesTest, SmallerMicroBatchesKeepTheTokensOfAStep) {
  const auto found = changes({{kMicroBatch, "512"}}, 1);
  EXPECT_THAT(found, Contains("rows of a micro-batch 4 -> 2: --training.num_tokens_per_microbatch_per_dp_rank=256 "
                              "--training.num_tokens_per_train_step=512"));
  EXPECT_THAT(found, Contains(HasSubstr("4 -> 1")));
}

TEST_F(FitChangesTest, PipelinesTakeMoreMicroBatchesTogether) {
  const auto found = changes(
      {{kMicroBatch, "256"}, {"parallelism.pipeline_parallel_degree", "2"}, {"parallelism.num_pp_microbatches", "4"}},
      2);
  EXPECT_THAT(found, Contains("rows of a micro-batch 2 -> 1: --training.num_tokens_per_microbatch_per_dp_rank=128 "
                              "--parallelism.num_pp_microbatches=8"));
}

TEST_F(FitChangesTest, DegreesTakeRanksOfTheShards) {
  const auto found = changes({{kMicroBatch, "128"}}, 4);
  EXPECT_THAT(found, Contains("tp 1 -> 2, dp_shard 4 -> 2: --parallelism.tensor_parallel_degree=2 "
                              "--parallelism.data_parallel_shard_degree=2 --training.num_tokens_per_train_step=512"));
  EXPECT_THAT(found, Contains(HasSubstr("tp 1 -> 4, dp_shard 4 -> 1")));
  EXPECT_THAT(found, Contains(HasSubstr("cp 1 -> 2, dp_shard 4 -> 2")));
  EXPECT_THAT(found, Not(Contains(HasSubstr("-> 8"))));
}

TEST_F(FitChangesTest, TensorParallelRanksStayInANode) {
  EXPECT_THAT(changes({{kMicroBatch, "128"}, {"parallelism.tensor_parallel_degree", "8"}}, 64),
              Not(Contains(HasSubstr("tp 8"))));
}

TEST_F(FitChangesTest, ReplicasBecomeShards) {
  EXPECT_THAT(changes({{kMicroBatch, "128"}, {"parallelism.data_parallel_replicate_degree", "2"}}, 4),
              Contains("dp_replicate 2 -> 1, dp_shard 2 -> 4: --parallelism.data_parallel_replicate_degree=1 "
                       "--parallelism.data_parallel_shard_degree=4"));
}

}  // namespace
}  // namespace titan::app
