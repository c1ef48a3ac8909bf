#include "core/train/pipeline/plan_pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/base/error.hpp"
#include "tests/unit/schedule/tables.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PlanPipeline, NeedsAPluginWithASchedule) {
  EngineRun run;
  run.mesh = config::Mesh({2, 1, 1, 1, 1}, 2);
  try {
    plan_pipeline(run, {"tok_embeddings", "output"}, 2);
    FAIL() << "a pipeline without a schedule was planned";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a pipeline needs a plugin with a schedule, and there is none: pp 2"));
  }
}

TEST(PlanPipeline, OtherOrdersAndOtherStagesAreOtherFacts) {
  const PipelineTables tables{schedule::two_ranks(), schedule::two_ranks()};
  EXPECT_EQ(facts_of(tables), facts_of(tables));
  PipelineTables order = tables, stages = tables, evaluation = tables;
  std::swap(order.training.ranks[0].actions[0], order.training.ranks[0].actions[2]);
  stages.training.ranks[0].stages[0].count = 1;
  evaluation.evaluation.ranks[1].actions.pop_back();
  EXPECT_EQ(facts_of(order)[0].first, "pipeline schedule");
  EXPECT_NE(facts_of(order)[0], facts_of(tables)[0]);
  EXPECT_NE(facts_of(stages)[0], facts_of(tables)[0]);
  EXPECT_EQ(facts_of(evaluation)[0], facts_of(tables)[0]);
  EXPECT_NE(facts_of(evaluation)[1], facts_of(tables)[1]);
}

TEST(PlanPipeline, NamesTheBlocksOfTheChain) {
  EXPECT_THAT(block_names(*tiny::tiny_tree()), ElementsAre("tok_embeddings", "output"));
}

TEST(PlanPipeline, TheTreeMustRunWhatTheTableSays) {
  nn::Tree tree;
  tiny::add_tiny_model(tree);
  tree.validate();
  tree.set_mesh(config::Mesh({2, 1, 1, 1, 1}, 2));
  tree.keep_chain({nn::Stage{1, 1, 1}});
  schedule::Table table = schedule::two_ranks();
  table.ranks[1].stages = {{1, 1, 1, 0}};
  EXPECT_NO_THROW(require_same_stages(table, 1, tree));
  EXPECT_THROW(require_same_stages(table, 0, tree), PluginError);
  table.ranks[1].stages = {{1, 1, 2, 0}};
  EXPECT_THROW(require_same_stages(table, 1, tree), PluginError);
}

}  // namespace
}  // namespace titan::train
