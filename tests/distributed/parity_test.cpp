// Every layout of data parallelism trains as one rank does on the same global batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"

namespace titan::testing {
namespace {

using ::testing::HasSubstr;

using Degrees = config::Degrees;

Degrees layout(std::int64_t replicas, std::int64_t shards) { return {1, replicas, shards, 1, 1}; }

struct Case {
  const char* name;
  std::int64_t replicas, shards;
  std::int64_t num_micro_batches;
  const char* reshard = "default";
};

class Parity : public ::testing::TestWithParam<Case> {
 protected:
  static RankOutcome outcome(const Tolerance& tolerance) {
    const Case& wanted = GetParam();
    RankRuns runs = parity_run(layout(wanted.replicas, wanted.shards), tolerance, wanted.num_micro_batches);
    runs.settings.push_back({"parallelism.fsdp_reshard_after_forward", wanted.reshard});
    return run_ranks(runs);
  }
};

TEST_P(Parity, Float64) { expect_parity(outcome(kDouble), one_rank(kDouble), kDouble); }
TEST_P(Parity, Float32) { expect_parity(outcome(kSingle), one_rank(kSingle), kSingle); }

INSTANTIATE_TEST_SUITE_P(
    Layouts, Parity,
    ::testing::Values(Case{"one_accumulated4", 1, 1, 4}, Case{"ddp2", 2, 1, 1}, Case{"ddp2_accumulated4", 2, 1, 4},
                      Case{"ddp4", 4, 1, 1}, Case{"fsdp2", 1, 2, 1}, Case{"fsdp2_accumulated4", 1, 2, 4},
                      Case{"fsdp2_always", 1, 2, 1, "always"}, Case{"fsdp2_always_accumulated4", 1, 2, 4, "always"},
                      Case{"fsdp2_never", 1, 2, 1, "never"}, Case{"fsdp2_never_accumulated4", 1, 2, 4, "never"},
                      Case{"fsdp3", 1, 3, 1}, Case{"fsdp3_accumulated4", 1, 3, 4}, Case{"fsdp4", 1, 4, 1},
                      Case{"hsdp2x2", 2, 2, 1}, Case{"hsdp2x2_accumulated4", 2, 2, 4}),
    [](const auto& wanted) { return wanted.param.name; });

/// A layout and one rank, with the same labels ignored.
void expect_parity_ignoring(const Degrees& degrees, const std::function<bool(std::int64_t, std::int64_t)>& ignore) {
  RankRuns several = parity_run(degrees, kDouble, 1), one = parity_run(kOneRank, kDouble, 1);
  several.ignore = one.ignore = ignore;
  several.steps = one.steps = 2;
  expect_parity(run_ranks(several), run_ranks(one), kDouble);
}

TEST(ParityOfLabels, OneRankIsMostlyPadding) {
  const auto ignore = [](std::int64_t row, std::int64_t column) { return row % 2 == 1 && (row > 1 || column > 0); };
  for (const Degrees& degrees : {layout(2, 1), layout(1, 2)}) expect_parity_ignoring(degrees, ignore);
}

TEST(ParityOfLabels, OneRankHasNoValidToken) {
  const auto ignore = [](std::int64_t row, std::int64_t) { return row % 2 == 1; };
  for (const Degrees& degrees : {layout(2, 1), layout(1, 2)}) expect_parity_ignoring(degrees, ignore);
}

TEST(ParityOfLabels, NoValidTokenAnywhereStopsAllRanks) {
  for (const Degrees& degrees : {layout(2, 1), layout(1, 2)}) {
    RankRuns runs = parity_run(degrees, kDouble, 1);
    runs.ignore = [](std::int64_t, std::int64_t) { return true; };
    try {
      run_ranks(runs);
      FAIL() << "a step without labels went on";
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("nothing to learn from"));
    }
  }
}

TEST(ParityOfRuns, TwoRunsOfOneLayoutHaveTheSameBits) {
  for (const Degrees& degrees : {layout(2, 2), layout(4, 1)}) {
    const RankOutcome first = run_ranks(parity_run(degrees, kSingle, 1));
    const RankOutcome second = run_ranks(parity_run(degrees, kSingle, 1));
    EXPECT_TRUE(bit_equal(first.parameters, second.parameters));
    for (std::size_t step = 0; step < first.steps.size(); ++step) {
      EXPECT_EQ(first.steps[step].loss, second.steps[step].loss);
      EXPECT_EQ(first.steps[step].grad_norm, second.steps[step].grad_norm);
    }
  }
}

RankRuns mixed_run(const Degrees& degrees) {
  RankRuns runs = parity_run(degrees, kSingle, 1);
  runs.settings.push_back({"training.mixed_precision_param", "bfloat16"});
  runs.steps = 10;
  return runs;
}

TEST(ParityOfBfloat16, LossStaysWithinOnePercent) {
  const RankOutcome one = run_ranks(mixed_run(kOneRank)), two = run_ranks(mixed_run(layout(1, 2)));
  EXPECT_TRUE(bit_equal(two.initial, one.initial));
  for (std::size_t step = 0; step < one.steps.size(); ++step) {
    EXPECT_LT(relative_difference(two.steps[step].loss, one.steps[step].loss), 1e-2) << "step " << step;
  }
  for (const auto& record : two.records[0][1]) {
    if (record.group != "fsdp") continue;
    EXPECT_EQ(record.dtype, record.op == "_allgather_base" ? at::kBFloat16 : at::kFloat) << record.op;
  }
}

using Counts = std::map<std::string, int>;

/// How often a rank calls what in its second step, without the audit of the first.
Counts counts(std::int64_t replicas, std::int64_t shards, std::int64_t num_micro_batches, const char* reshard) {
  RankRuns runs = parity_run(layout(replicas, shards), kSingle, num_micro_batches);
  runs.steps = 2;
  runs.settings.push_back({"parallelism.fsdp_reshard_after_forward", reshard});
  runs.settings.push_back({"debug.replica_audit_freq", "0"});
  const RankOutcome outcome = run_ranks(runs);
  Counts found;
  for (const auto& record : outcome.records.back()[1]) ++found[record.op + " " + record.group];
  return found;
}

// The table of docs/parallelism.md. Units: tok_embeddings, 8 layers, norm, output.
TEST(Collectives, AreThoseOfTheDocumentedTable) {
  constexpr int kUnits = 11;
  const auto with_agreements = [](Counts wanted) {
    wanted["all_reduce world"] = 2;
    return wanted;
  };
  for (const int micro_batches : {1, 4}) {
    const auto fsdp = [&](int gathers) {
      return with_agreements(
          {{"_allgather_base fsdp", gathers * micro_batches}, {"_reduce_scatter_base fsdp", kUnits * micro_batches}});
    };
    EXPECT_EQ(counts(1, 2, micro_batches, "default"), fsdp(2 * kUnits - 1));
    EXPECT_EQ(counts(1, 2, micro_batches, "always"), fsdp(2 * kUnits));
    EXPECT_EQ(counts(1, 2, micro_batches, "never"), fsdp(kUnits));
    Counts hsdp = fsdp(2 * kUnits - 1);
    hsdp["all_reduce dp_replicate"] = kUnits;
    EXPECT_EQ(counts(2, 2, micro_batches, "default"), hsdp);
    // The model fits one bucket.
    EXPECT_EQ(counts(2, 1, micro_batches, "default"), with_agreements({{"all_reduce dp_replicate", 1}}));
  }
}

}  // namespace
}  // namespace titan::testing
