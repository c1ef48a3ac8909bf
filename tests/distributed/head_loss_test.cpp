// Projection and loss in one against one after the other, in whole runs. Both are at work in fp32 alone here: fp64 has
// no kernels.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "core/nn/tree.hpp"
#include "tests/distributed/parity.hpp"
#include "tests/distributed/rank_guards.hpp"
#include "tests/distributed/trained_ranks.hpp"

namespace titan::testing {
namespace {

/// One step and a validation, with somebody around the last block that counts the calls whose output is no loss. After
/// one step AdamW's moments say what every gradient was.
Trained run_counting(RankRuns runs, std::uint32_t declared, std::atomic<int>& num_logits) {
  runs.steps = 1;
  runs.settings.insert(runs.settings.end(),
                       {{"validator.enable", "true"}, {"validator.freq", "1"}, {"validator.steps", "2"}});
  RankGuards guards([&](FunctionGuard& guard, std::int64_t) {
    guard.attach = [&](train::Control&, nn::Tree& tree) {
      const auto count = [&](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
        nn::Tensors out = next(frame, in);
        if (out.front().dim() > 0) ++num_logits;
        return out;
      };
      tree.attach(tree.chain().back(), 0, count, declared);
    };
  });
  return train_ranks(guards.in(runs));
}

const Trained& with_logits() {
  static const Trained known = [] {
    std::atomic<int> num_logits = 0;
    Trained made = run_counting(parity_run(kOneRank, kSingle, 1), 0, num_logits);
    EXPECT_EQ(num_logits, 3) << "a step, and two batches of validation";
    return made;
  }();
  return known;
}

/// The layout without logits, and one rank that is asked for them.
void expect_parity_of_both(const config::Degrees& degrees, std::int64_t num_micro_batches = 1,
                           const Settings& settings = {}) {
  RankRuns runs = with(parity_run(degrees, kSingle, num_micro_batches), settings);
  std::atomic<int> num_logits = 0;
  const Trained ours = run_counting(runs, TITAN_AROUND_ANY_OUTPUTS, num_logits);
  EXPECT_EQ(num_logits, 0);
  const Trained& expected = with_logits();
  ASSERT_EQ(ours.steps.size(), 1U);
  EXPECT_LT(relative_difference(ours.steps.at(1).loss, expected.steps.at(1).loss), kSingle.figures);
  EXPECT_LT(relative_difference(ours.steps.at(1).grad_norm, expected.steps.at(1).grad_norm), kSingle.figures);
  EXPECT_LT(largest_relative_difference(ours.state, expected.state), kSingle.weights);
}

TEST(HeadLossInRuns, IsTheLeavesOnOneRank) { expect_parity_of_both(kOneRank); }
TEST(HeadLossInRuns, IsTheLeavesWithAccumulation) { expect_parity_of_both(kOneRank, 2); }
TEST(HeadLossInRuns, IsTheLeavesWithReplicas) { expect_parity_of_both({1, 2, 1, 1, 1}); }
TEST(HeadLossInRuns, IsTheLeavesWithShards) {
  for (const char* reshard : {"default", "always", "never"}) {
    expect_parity_of_both({1, 1, 2, 1, 1}, 1, {{"parallelism.fsdp_reshard_after_forward", reshard}});
  }
}
TEST(HeadLossInRuns, IsTheLeavesInAPipeline) {
  for (const char* schedule : {"1F1B", "GPipe"}) {
    expect_parity_of_both(
        {2, 1, 1, 1, 1}, 2,
        {{"parallelism.num_pp_microbatches", "2"}, {"parallelism.pipeline_parallel_schedule", schedule}});
  }
}
TEST(HeadLossInRuns, IsTheLeavesWithRecomputedLayers) {
  for (const char* mode : {"full", "selective"}) {
    expect_parity_of_both({1, 1, 2, 1, 1}, 1, {{"activation_checkpoint.mode", mode}});
  }
}

TEST(HeadLossInRuns, ValidationIsTheSame) {
  std::atomic<int> num_logits = 0;
  const Trained ours = run_counting(parity_run(kOneRank, kSingle, 1), TITAN_AROUND_ANY_OUTPUTS, num_logits);
  ASSERT_FALSE(with_logits().validation.empty());
  ASSERT_EQ(ours.validation.size(), with_logits().validation.size());
  for (const auto& [step, loss] : with_logits().validation) {
    EXPECT_LT(relative_difference(ours.validation.at(step), loss), kSingle.figures) << step;
  }
}

TEST(HeadLossInRuns, TensorParallelismKeepsItsLogits) {
  std::atomic<int> num_logits = 0;
  run_counting(parity_run({1, 1, 1, 1, 2}, kSingle, 1), TITAN_AROUND_ANY_OUTPUTS, num_logits);
  EXPECT_GT(num_logits, 0);
}

}  // namespace
}  // namespace titan::testing
