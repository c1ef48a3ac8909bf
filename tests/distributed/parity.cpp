#include "tests/distributed/parity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

namespace titan::testing {

RankRuns parity_run(const config::Degrees& degrees, const Tolerance& tolerance, std::int64_t num_micro_batches,
                    const std::string& preset) {
  const std::int64_t data_ranks = degrees[1] * degrees[2];
  const std::int64_t tokens = kParityRows * kParityLength;
  RankRuns runs;
  runs.degrees = degrees;
  runs.preset = preset;
  runs.settings = {
      {"training.dtype", tolerance.dtype},
      {"training.mixed_precision_param", tolerance.dtype},
      {"training.mixed_precision_reduce", tolerance.dtype},
      {"training.max_context_length", std::to_string(kParityLength)},
      {"training.num_tokens_per_microbatch_per_dp_rank", std::to_string(tokens / data_ranks / num_micro_batches)},
      {"training.num_tokens_per_train_step", std::to_string(tokens)}};
  return runs;
}

const RankOutcome& one_rank(const Tolerance& tolerance, const std::string& preset) {
  static std::map<std::pair<std::string, std::string>, RankOutcome> known;
  const std::pair<std::string, std::string> key{preset, tolerance.dtype};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, run_ranks(parity_run(kOneRank, tolerance, 1, preset))).first->second;
}

double relative_difference(double value, double expected) { return std::abs(value - expected) / std::abs(expected); }

void expect_parity(const RankOutcome& outcome, const RankOutcome& expected, const Tolerance& tolerance) {
  EXPECT_TRUE(bit_equal(outcome.initial, expected.initial)) << "initial weights do not depend on the layout";
  EXPECT_LT(largest_relative_difference(outcome.first_gradients, expected.first_gradients), tolerance.gradients);
  ASSERT_EQ(outcome.steps.size(), expected.steps.size());
  for (std::size_t step = 0; step < expected.steps.size(); ++step) {
    EXPECT_LT(relative_difference(outcome.steps[step].loss, expected.steps[step].loss), tolerance.figures)
        << "step " << step;
    EXPECT_LT(relative_difference(outcome.steps[step].grad_norm, expected.steps[step].grad_norm), tolerance.figures)
        << "step " << step;
  }
  EXPECT_LT(largest_relative_difference(outcome.parameters, expected.parameters), tolerance.weights);
  // Tokens are counted exactly, and the biases of experts follow from the counts.
  EXPECT_TRUE(bit_equal(outcome.buffers, expected.buffers));
}

}  // namespace titan::testing
