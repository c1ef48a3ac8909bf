// Ranks that share every layer train as one rank does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"

namespace titan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Degrees = config::Degrees;

constexpr Degrees kTp2{1, 1, 1, 1, 2}, kTp4{1, 1, 1, 1, 4};
constexpr int kLayers = 8;

RankRuns tensor_run(const Degrees& degrees, const Tolerance& tolerance, std::int64_t num_micro_batches,
                    bool splits_sequence = true) {
  RankRuns runs = parity_run(degrees, tolerance, num_micro_batches);
  runs.settings.push_back({"parallelism.enable_sequence_parallel", splits_sequence ? "true" : "false"});
  return runs;
}

struct Case {
  const char* name;
  Degrees degrees;
  bool splits_sequence = true;
  std::int64_t num_micro_batches = 1;
};

class TensorParallelParity : public ::testing::TestWithParam<Case> {
 protected:
  static RankOutcome outcome(const Tolerance& tolerance) {
    const Case& wanted = GetParam();
    return run_ranks(tensor_run(wanted.degrees, tolerance, wanted.num_micro_batches, wanted.splits_sequence));
  }
};

TEST_P(TensorParallelParity, Float64) { expect_parity(outcome(kDouble), one_rank(kDouble), kDouble); }
TEST_P(TensorParallelParity, Float32) { expect_parity(outcome(kSingle), one_rank(kSingle), kSingle); }

INSTANTIATE_TEST_SUITE_P(
    Layouts, TensorParallelParity,
    ::testing::Values(Case{"tp2", kTp2}, Case{"tp2_accumulated2", kTp2, true, 2}, Case{"tp2_whole", kTp2, false},
                      Case{"tp2_whole_accumulated2", kTp2, false, 2}, Case{"tp4", kTp4},
                      Case{"tp4_accumulated2", kTp4, true, 2}, Case{"tp4_whole", kTp4, false},
                      Case{"fsdp2_tp2", {1, 1, 2, 1, 2}}, Case{"fsdp2_tp2_accumulated2", {1, 1, 2, 1, 2}, true, 2},
                      Case{"fsdp2_tp2_whole", {1, 1, 2, 1, 2}, false}, Case{"ddp2_tp2", {1, 2, 1, 1, 2}},
                      Case{"ddp2_tp2_accumulated2", {1, 2, 1, 1, 2}, true, 2}, Case{"hsdp2x2_tp2", {1, 2, 2, 1, 2}},
                      Case{"hsdp2x2_tp2_accumulated2", {1, 2, 2, 1, 2}, true, 2}),
    [](const auto& wanted) { return wanted.param.name; });

/// Other models: norms of q and k, tied embeddings, mixtures of experts whose features are split.
struct ModelCase {
  const char* name;
  const char* preset;
  Settings settings;
};

class TensorParallelModels : public ::testing::TestWithParam<ModelCase> {};

TEST_P(TensorParallelModels, Float64) {
  const auto [name, preset, settings] = GetParam();
  const auto run = [&](const Degrees& degrees, bool splits_sequence) {
    RankRuns runs = parity_run(degrees, kDouble, 1, preset);
    runs.settings.insert(runs.settings.end(), settings.begin(), settings.end());
    if (!splits_sequence) runs.settings.push_back({"parallelism.enable_sequence_parallel", "false"});
    return run_ranks(runs);
  };
  const RankOutcome expected = run(kOneRank, true);
  expect_parity(run(kTp2, true), expected, kDouble);
  expect_parity(run(kTp2, false), expected, kDouble);
  expect_parity(run({1, 1, 2, 1, 2}, true), expected, kDouble);
}

INSTANTIATE_TEST_SUITE_P(
    Models, TensorParallelModels,
    ::testing::Values(ModelCase{"qwen3", "qwen3_parity", {{"model.enable_weight_tying", "false"}}},
                      ModelCase{"qwen3_tied", "qwen3_parity", {{"model.enable_weight_tying", "true"}}},
                      ModelCase{"qwen3_moe_shared",
                                "qwen3_parity_moe",
                                {{"model.num_shared_experts", "1"}, {"model.gate_bias", "true"}}},
                      ModelCase{"qwen3_moe_before", "qwen3_parity_moe", {{"model.score_before_experts", "true"}}}),
    [](const auto& wanted) { return wanted.param.name; });

/// A model and rows that three ranks divide.
RankRuns of_three(const Degrees& degrees) {
  RankRuns runs = tensor_run(degrees, kDouble, 1);
  const auto tokens = std::to_string(kParityRows * 9);
  const Settings settings{{"model.dim", "48"},
                          {"model.n_heads", "6"},
                          {"model.n_kv_heads", "3"},
                          {"model.multiple_of", "48"},
                          {"training.max_context_length", "9"},
                          {"training.num_tokens_per_microbatch_per_dp_rank", tokens},
                          {"training.num_tokens_per_train_step", tokens}};
  runs.settings.insert(runs.settings.end(), settings.begin(), settings.end());
  return runs;
}

TEST(TensorParallelOfThree, Float64) {
  expect_parity(run_ranks(of_three({1, 1, 1, 1, 3})), run_ranks(of_three(kOneRank)), kDouble);
}

TEST(TensorParallelLabels, ARanksPartOfTheSequenceHasNoValidToken) {
  RankRuns several = tensor_run(kTp2, kDouble, 1), one = parity_run(kOneRank, kDouble, 1);
  several.ignore = one.ignore = [](std::int64_t, std::int64_t column) { return column >= kParityLength / 2; };
  several.steps = one.steps = 2;
  expect_parity(run_ranks(several), run_ranks(one), kDouble);
}

TEST(TensorParallelRuns, TwoRunsHaveTheSameBits) {
  const RankOutcome first = run_ranks(tensor_run(kTp4, kSingle, 1)), second = run_ranks(tensor_run(kTp4, kSingle, 1));
  EXPECT_TRUE(bit_equal(first.parameters, second.parameters));
}

TEST(TensorParallelPrecision, IsThePolicyOfTheRunWithoutFsdpToo) {
  RankRuns one = parity_run(kOneRank, kSingle, 1), two = tensor_run(kTp2, kSingle, 1);
  for (RankRuns* runs : {&one, &two}) runs->settings.push_back({"training.mixed_precision_param", "bfloat16"});
  const RankOutcome expected = run_ranks(one), outcome = run_ranks(two);
  for (std::size_t step = 0; step < outcome.steps.size(); ++step) {
    EXPECT_LT(relative_difference(outcome.steps[step].loss, expected.steps[step].loss), 1e-2) << "step " << step;
  }
  for (const auto& record : outcome.records[0][1]) {
    if (record.group != "tp") continue;
    EXPECT_EQ(record.dtype, record.op == "all_reduce" ? at::kFloat : at::kBFloat16) << record.op;
  }
  EXPECT_EQ(outcome.parameters.at("norm.weight").scalar_type(), at::kFloat);
}

using Counts = std::map<std::string, int>;

/// How often the ranks call what along "tp" in the second step; all of them the same.
Counts counts(const Degrees& degrees, int num_micro_batches, bool splits_sequence) {
  RankRuns runs = tensor_run(degrees, kDouble, num_micro_batches, splits_sequence);
  runs.steps = 2;
  const RankOutcome outcome = run_ranks(runs);
  std::vector<Counts> found(outcome.records.size());
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    for (const auto& record : outcome.records[rank][1]) {
      if (record.group == "tp") ++found[rank][record.op];
    }
    EXPECT_EQ(found[rank], found.front());
  }
  return found.front();
}

// The table of docs/parallelism.md.
TEST(TensorParallelCollectives, AreThoseOfTheDocumentedTable) {
  for (const Degrees& degrees : {kTp2, kTp4, Degrees{1, 1, 2, 1, 2}}) {
    for (const int batches : {1, 2}) {
      const int transfers = (4 * kLayers + 2) * batches;
      EXPECT_EQ(counts(degrees, batches, true), (Counts{{"_allgather_base", transfers},
                                                        {"_reduce_scatter_base", transfers},
                                                        {"all_reduce", 2 * batches + 1}}));
      EXPECT_EQ(counts(degrees, batches, false), (Counts{{"all_reduce", (4 * kLayers + 4) * batches}}));
    }
  }
}

/// Calls of one layer in a step with one micro-batch, by the module whose children they are made for.
TEST(TensorParallelCollectives, ALayerHasTwoGathersAndTwoScattersEachWay) {
  const RankOutcome outcome = run_ranks(tensor_run(kTp2, kDouble, 1));
  Counts found;
  for (const auto& record : outcome.records[0][1]) {
    if (!record.module.starts_with("layers.3.")) continue;
    ++found[record.module.substr(0, record.module.rfind('.')) + " " + record.op];
  }
  Counts wanted;
  for (const std::string module : {"layers.3.attention", "layers.3.feed_forward"}) {
    wanted[module + " _allgather_base"] = wanted[module + " _reduce_scatter_base"] = 2;
  }
  EXPECT_EQ(found, wanted);
}

void expect_refused(const RankRuns& runs, const ::testing::Matcher<std::string>& text) {
  try {
    run_ranks(runs);
    FAIL() << "a run that cannot be went on";
  } catch (const ConfigError& error) {
    EXPECT_THAT(std::string(error.what()), text);
  }
}

TEST(TensorParallelRefuses, HeadsThatTheRanksDoNotDivide) {
  expect_refused(tensor_run({1, 1, 1, 1, 3}, kDouble, 1),
                 AllOf(HasSubstr("heads 8, kv heads 4"), HasSubstr("8 = 2 x 3 + 2"), HasSubstr("1, 2, 4 would fit")));
  expect_refused(tensor_run({1, 1, 1, 1, 8}, kDouble, 1), HasSubstr("4 = 0 x 8 + 4"));
}

TEST(TensorParallelRefuses, FeaturesThatTheRanksDoNotDivide) {
  RankRuns runs = tensor_run(kTp4, kDouble, 1);
  runs.settings.push_back({"model.multiple_of", "1"});  // 170 features
  expect_refused(runs, AllOf(HasSubstr("dim 0 of layers.0.feed_forward.w1.weight"), HasSubstr("170 = 42 x 4 + 2")));
}

TEST(TensorParallelRefuses, ASequenceThatTheRanksDoNotDivide) {
  RankRuns runs = tensor_run(kTp4, kDouble, 1);
  runs.settings.push_back({"training.max_context_length", "6"});
  expect_refused(runs, AllOf(HasSubstr("training.max_context_length"), HasSubstr("6 = 1 x 4 + 2"),
                             HasSubstr("4 or 8 would fit"), HasSubstr("no_enable_sequence_parallel")));
}

}  // namespace
}  // namespace titan::testing
