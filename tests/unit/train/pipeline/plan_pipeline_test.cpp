#include "core/train/pipeline/plan_pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
