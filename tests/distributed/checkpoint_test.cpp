// Recomputation through the plugins of this build: which layers, and with which random numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"

namespace titan::testing {
namespace {

using ::testing::HasSubstr;

RankRuns dropout_run(const char* mode, const config::Degrees& degrees = kOneRank) {
  RankRuns runs;
  runs.preset = "dropout_small";
  runs.degrees = degrees;
  runs.steps = 2;
  runs.settings = {{"activation_checkpoint.mode", mode}};
  return runs;
}

RankRuns with(RankRuns runs, const char* option, const char* value) {
  runs.settings.push_back({option, value});
  return runs;
}

TEST(RandomNumbers, DropoutIsTheForwardsInEveryRecomputation) {
  const RankOutcome none = run_ranks(dropout_run("none"));
  for (const char* mode : {"selective", "full"}) {
    const RankOutcome outcome = run_ranks(dropout_run(mode));
    EXPECT_TRUE(bit_equal(outcome.first_gradients, none.first_gradients)) << mode;
    EXPECT_TRUE(bit_equal(outcome.parameters, none.parameters)) << mode;
  }
}

TEST(RandomNumbers, AnotherDrawGivesOtherGradients) {
  const RankOutcome none = run_ranks(dropout_run("none"));
  const RankOutcome outcome = run_ranks(with(dropout_run("full"), "activation_checkpoint.preserve_rng_state", "false"));
  EXPECT_FALSE(bit_equal(outcome.first_gradients, none.first_gradients));
  EXPECT_EQ(outcome.steps[0].loss, none.steps[0].loss) << "the forward is the same";
}

TEST(RandomNumbers, DebugNamesTheDrawThatDiffers) {
  RankRuns runs = with(dropout_run("full"), "activation_checkpoint.preserve_rng_state", "false");
  runs = with(std::move(runs), "activation_checkpoint.debug", "true");
  try {
    run_ranks(runs);
    FAIL() << "the values differ";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("recomputation differs from forward in layers.3"));
    EXPECT_THAT(error.what(), HasSubstr("gave other values: aten::bernoulli"));
  }
}

TEST(RandomNumbers, FollowTheSeed) {
  const RankOutcome seven = run_ranks(dropout_run("none"));
  const RankOutcome again = run_ranks(dropout_run("none"));
  EXPECT_TRUE(bit_equal(seven.parameters, again.parameters));
  EXPECT_NE(run_ranks(with(dropout_run("none"), "debug.seed", "8")).steps[0].loss, seven.steps[0].loss);
}

TEST(RandomNumbers, AreThoseOfTheForwardInEveryLayout) {
  for (const config::Degrees& degrees : {config::Degrees{1, 1, 2, 1, 1}, config::Degrees{2, 1, 1, 1, 1}}) {
    const auto trained = [&](const char* mode) {
      RankRuns runs = dropout_run(mode, degrees);
      // In a pipeline a micro-batch is recomputed when others have drawn after it.
      if (degrees[0] > 1) runs = with(std::move(runs), "parallelism.num_pp_microbatches", "4");
      return run_ranks(runs);
    };
    const RankOutcome none = trained("none");
    for (const char* mode : {"selective", "full"}) {
      const RankOutcome outcome = trained(mode);
      EXPECT_TRUE(bit_equal(outcome.first_gradients, none.first_gradients)) << mode;
      EXPECT_TRUE(bit_equal(outcome.parameters, none.parameters)) << mode;
    }
  }
}

// Documents are found once in forward, by the first layer, and by every layer in its recomputation.
TEST(Documents, AreFoundAgainInEveryRecomputation) {
  const auto trained = [](const char* mode) {
    RankRuns runs = parity_run(kOneRank, kDouble, 1);
    runs.steps = 1;
    runs.settings.insert(runs.settings.end(), {{"model.n_layers", "3"},
                                               {"model.attn_mask_type", "block_causal"},
                                               {"training.max_context_length", "64"},
                                               {"activation_checkpoint.mode", mode}});
    return run_ranks(runs);
  };
  const RankOutcome none = trained("none");
  for (const char* mode : {"selective", "full"}) {
    EXPECT_TRUE(bit_equal(trained(mode).first_gradients, none.first_gradients)) << mode;
  }
}

// Gradients of layers that are not recomputed are the same: what changes is who keeps what.
TEST(Layers, EveryNthIsRecomputed) {
  RankRuns one = parity_run(kOneRank, kDouble, 1);
  one.steps = 1;
  RankRuns every_third =
      with(with(one, "activation_checkpoint.mode", "selective"), "activation_checkpoint.every_nth_layer", "3");
  ::testing::internal::CaptureStderr();
  const RankOutcome outcome = run_ranks(every_third);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("activation checkpointing: full, 2 of 8 layers"));
  EXPECT_TRUE(bit_equal(outcome.first_gradients, run_ranks(one).first_gradients));
}

TEST(Layers, EveryNthNeedsSelective) {
  const RankRuns runs =
      with(with(dropout_run("full"), "activation_checkpoint.every_nth_layer", "2"), "debug.seed", "1");
  try {
    run_ranks(runs);
    FAIL() << "every_nth_layer was ignored";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("every_nth_layer selects blocks: it needs mode selective"));
  }
}

}  // namespace
}  // namespace titan::testing
