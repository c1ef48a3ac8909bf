// Rows of tokens that several ranks share train as on one rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"

namespace titan::testing {
namespace {

using ::testing::HasSubstr;
using Degrees = config::Degrees;

constexpr Degrees kCp2{1, 1, 1, 2, 1}, kCp4{1, 1, 1, 4, 1};

RankRuns context_run(const Degrees& degrees, const Tolerance& tolerance, std::int64_t num_micro_batches,
                     const char* balancer) {
  RankRuns runs = parity_run(degrees, tolerance, num_micro_batches);
  runs.settings.push_back({"parallelism.context_parallel_load_balancer", balancer});
  return runs;
}

struct Case {
  const char* name;
  Degrees degrees;
  const char* balancer = "headtail";
  std::int64_t num_micro_batches = 1;
};

class ContextParallelParity : public ::testing::TestWithParam<Case> {
 protected:
  static RankOutcome outcome(const Tolerance& tolerance) {
    const Case& wanted = GetParam();
    return run_ranks(context_run(wanted.degrees, tolerance, wanted.num_micro_batches, wanted.balancer));
  }
};

TEST_P(ContextParallelParity, Float64) { expect_parity(outcome(kDouble), one_rank(kDouble), kDouble); }
TEST_P(ContextParallelParity, Float32) { expect_parity(outcome(kSingle), one_rank(kSingle), kSingle); }

INSTANTIATE_TEST_SUITE_P(Layouts, ContextParallelParity,
                         ::testing::Values(Case{"cp2", kCp2}, Case{"cp2_accumulated2", kCp2, "headtail", 2},
                                           Case{"cp2_none", kCp2, "none"},
                                           Case{"cp2_none_accumulated2", kCp2, "none", 2}, Case{"cp4", kCp4},
                                           Case{"cp4_accumulated2", kCp4, "headtail", 2},
                                           Case{"cp4_none", kCp4, "none"}, Case{"fsdp2_cp2", {1, 1, 2, 2, 1}},
                                           Case{"fsdp2_cp2_accumulated2", {1, 1, 2, 2, 1}, "headtail", 2},
                                           Case{"ddp2_cp2", {1, 2, 1, 2, 1}}, Case{"tp2_cp2", {1, 1, 1, 2, 2}},
                                           Case{"hsdp2x2_cp2", {1, 2, 2, 2, 1}},
                                           Case{"hsdp2x2_cp2_accumulated2", {1, 2, 2, 2, 1}, "headtail", 2}),
                         [](const auto& wanted) { return wanted.param.name; });

TEST(ContextParallelLabels, OneRankHasNoValidToken) {
  const auto ignore = [](std::int64_t, std::int64_t column) { return column >= kParityLength / 2; };
  RankRuns several = context_run(kCp2, kDouble, 1, "none"), one = parity_run(kOneRank, kDouble, 1);
  several.ignore = one.ignore = ignore;
  several.steps = one.steps = 2;
  expect_parity(run_ranks(several), run_ranks(one), kDouble);
}

TEST(ContextParallelRuns, TwoRunsHaveTheSameBits) {
  const RankOutcome first = run_ranks(context_run(kCp4, kSingle, 1, "headtail"));
  const RankOutcome second = run_ranks(context_run(kCp4, kSingle, 1, "headtail"));
  EXPECT_TRUE(bit_equal(first.parameters, second.parameters));
}

TEST(ContextParallelPrecision, KeysTravelInTheComputeDtypeAndTheirGradientsInFloat32) {
  RankRuns runs = context_run(kCp2, kSingle, 1, "headtail");
  runs.settings.push_back({"training.mixed_precision_param", "bfloat16"});
  const RankOutcome outcome = run_ranks(runs);
  std::map<at::ScalarType, int> sent;
  for (const auto& record : outcome.records.front()[1]) {
    if (record.op == "send") ++sent[record.dtype];
  }
  EXPECT_EQ(sent, (std::map<at::ScalarType, int>{{at::kBFloat16, 8 * 2}, {at::kFloat, 8 * 2}}));
  for (std::size_t step = 0; step < outcome.steps.size(); ++step) {
    EXPECT_LT(relative_difference(outcome.steps[step].loss, one_rank(kSingle).steps[step].loss), 1e-2);
  }
}

// The table of docs/parallelism.md: hops of 8 attention modules.
TEST(ContextParallelCollectives, AreThoseOfTheDocumentedTable) {
  for (const Degrees& degrees : {kCp2, kCp4}) {
    for (const int micro_batches : {1, 2}) {
      RankRuns runs = context_run(degrees, kDouble, micro_batches, "headtail");
      runs.steps = 2;
      const RankOutcome outcome = run_ranks(runs);
      const int ranks = static_cast<int>(degrees[3]);
      for (const auto& rank : outcome.records) {
        std::map<std::string, int> found;
        for (const auto& record : rank[1]) {
          if (record.group == "cp") ++found[record.op];
        }
        const int hops = 8 * (3 * ranks - 2) * micro_batches;
        EXPECT_EQ(found, (std::map<std::string, int>{{"send", hops}, {"recv", hops}}));
      }
    }
  }
}

void expect_refused(const RankRuns& runs, const std::string& text) {
  try {
    run_ranks(runs);
    FAIL() << "a run that cannot be went on";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(ContextParallelRefuses, ARowThatTheChunksDoNotDivide) {
  RankRuns runs = context_run(kCp4, kDouble, 1, "headtail");
  runs.settings.push_back({"training.max_context_length", "4"});
  expect_refused(runs, "4 = 0 x 8 + 4");
  runs.settings.push_back({"parallelism.context_parallel_load_balancer", "none"});
  runs.settings.push_back({"training.max_context_length", "6"});
  expect_refused(runs, "6 = 1 x 4 + 2");
}

TEST(ContextParallelRefuses, MasksThatDependOnDocuments) {
  RankRuns runs = context_run(kCp2, kDouble, 1, "headtail");
  runs.settings.push_back({"model.attn_mask_type", "block_causal"});
  expect_refused(runs, "block_causal, layers.0.attention.sdpa");
}

TEST(ContextParallelRefuses, AnotherLoadBalancer) {
  for (const char* balancer : {"ptrr", ""}) {
    expect_refused(context_run(kCp2, kDouble, 1, balancer), "headtail, none");
  }
}

}  // namespace
}  // namespace titan::testing
