#include "tests/distributed/rank_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace titan::testing {
namespace {

/// A step of 12 rows of 32 tokens, cut for a number of data-parallel ranks.
RankRuns small(const config::Degrees& degrees) {
  const std::int64_t ranks = degrees[1] * degrees[2];
  RankRuns runs;
  runs.degrees = degrees;
  runs.steps = 2;
  runs.settings = {{"model.n_layers", "2"},
                   {"training.max_context_length", "32"},
                   {"training.num_tokens_per_microbatch_per_dp_rank", std::to_string(12 * 32 / ranks)}};
  return runs;
}

TEST(RankRuns, OneRankRepeatsItself) {
  const RankOutcome a = run_ranks(small({1, 1, 1, 1, 1}));
  const RankOutcome b = run_ranks(small({1, 1, 1, 1, 1}));
  ASSERT_EQ(a.steps.size(), 2U);
  EXPECT_GT(a.steps[0].loss, 5);
  EXPECT_TRUE(bit_equal(a.initial, b.initial));
  EXPECT_TRUE(bit_equal(a.parameters, b.parameters));
  EXPECT_FALSE(bit_equal(a.initial, a.parameters));
  EXPECT_EQ(a.steps[1].loss, b.steps[1].loss);
}

TEST(RankRuns, SeveralRanksTrainOnTheSameRowsAsOne) {
  const RankOutcome one = run_ranks(small({1, 1, 1, 1, 1}));
  const RankOutcome two = run_ranks(small({1, 1, 2, 1, 1}));
  EXPECT_TRUE(bit_equal(two.initial, one.initial));
  EXPECT_LT(largest_relative_difference(two.first_gradients, one.first_gradients), 1e-9);
  EXPECT_LT(largest_relative_difference(two.parameters, one.parameters), 1e-9);
  ASSERT_EQ(two.records.size(), 2U);
  EXPECT_FALSE(two.records[1][1].empty());
}

TEST(RankRuns, MasksRowsOfTheStreamWhateverTheLayout) {
  const auto masked = [](config::Degrees degrees) {
    RankRuns runs = small(degrees);
    runs.ignore = [](std::int64_t row, std::int64_t column) { return row % 2 == 1 || column < 3; };
    return run_ranks(runs);
  };
  const RankOutcome one = masked({1, 1, 1, 1, 1});
  const RankOutcome two = masked({1, 2, 1, 1, 1});  // the second rank has odd rows only: no valid token
  EXPECT_LT(largest_relative_difference(two.first_gradients, one.first_gradients), 1e-9);
  EXPECT_NEAR(two.steps[1].loss, one.steps[1].loss, 1e-9);
  EXPECT_NE(one.steps[0].loss, run_ranks(small({1, 1, 1, 1, 1})).steps[0].loss);
}

}  // namespace
}  // namespace titan::testing
