// Ranks that share the layers train as one rank does, whatever the schedule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"

namespace titan::testing {
namespace {

using ::testing::HasSubstr;
using Degrees = config::Degrees;

constexpr Degrees kPp2{2, 1, 1, 1, 1}, kPp4{4, 1, 1, 1, 1};

/// Five steps, each of that many groups that go through the pipeline together.
RankRuns pipeline_run(const Degrees& degrees, const Tolerance& tolerance, const char* schedule, std::int64_t group,
                      std::int64_t num_groups = 1) {
  RankRuns runs = parity_run(degrees, tolerance, group * num_groups);
  runs.settings.push_back({"parallelism.pipeline_parallel_schedule", schedule});
  runs.settings.push_back({"parallelism.num_pp_microbatches", std::to_string(group)});
  return runs;
}

struct Case {
  const char* name;
  Degrees degrees;
  const char* schedule;
  std::int64_t group;
  std::int64_t num_groups = 1;
  const char* reshard = "default";
};

class PipelineParity : public ::testing::TestWithParam<Case> {
 protected:
  static RankOutcome outcome(const Tolerance& tolerance) {
    const Case& wanted = GetParam();
    RankRuns runs = pipeline_run(wanted.degrees, tolerance, wanted.schedule, wanted.group, wanted.num_groups);
    runs.settings.push_back({"parallelism.fsdp_reshard_after_forward", wanted.reshard});
    return run_ranks(runs);
  }
};

TEST_P(PipelineParity, Float64) { expect_parity(outcome(kDouble), one_rank(kDouble), kDouble); }
TEST_P(PipelineParity, Float32) { expect_parity(outcome(kSingle), one_rank(kSingle), kSingle); }

INSTANTIATE_TEST_SUITE_P(Layouts, PipelineParity,
                         ::testing::Values(Case{"pp2_gpipe", kPp2, "GPipe", 4}, Case{"pp2_1f1b", kPp2, "1F1B", 4},
                                           Case{"pp2_1f1b_accumulated2", kPp2, "1F1B", 2, 2},
                                           Case{"pp2_interleaved", kPp2, "Interleaved1F1B", 4},
                                           Case{"pp2_interleaved_accumulated2", kPp2, "Interleaved1F1B", 2, 2},
                                           Case{"pp4_gpipe", kPp4, "GPipe", 4}, Case{"pp4_1f1b", kPp4, "1F1B", 8},
                                           Case{"pp4_1f1b_accumulated2", kPp4, "1F1B", 4, 2},
                                           Case{"pp4_interleaved", kPp4, "Interleaved1F1B", 8},
                                           Case{"pp2_fsdp2", {2, 1, 2, 1, 1}, "1F1B", 4},
                                           Case{"pp2_fsdp2_accumulated2", {2, 1, 2, 1, 1}, "1F1B", 2, 2},
                                           Case{"pp2_fsdp2_always", {2, 1, 2, 1, 1}, "1F1B", 4, 1, "always"},
                                           Case{"pp2_fsdp2_never", {2, 1, 2, 1, 1}, "GPipe", 4, 1, "never"},
                                           Case{"pp2_fsdp2_interleaved", {2, 1, 2, 1, 1}, "Interleaved1F1B", 2, 2},
                                           Case{"pp2_ddp2", {2, 2, 1, 1, 1}, "1F1B", 4},
                                           Case{"pp2_ddp2_interleaved", {2, 2, 1, 1, 1}, "Interleaved1F1B", 2, 2},
                                           Case{"pp2_hsdp2x2", {2, 2, 2, 1, 1}, "1F1B", 2, 2}),
                         [](const auto& wanted) { return wanted.param.name; });

/// A schedule of the test's own, in a file that goes with it.
class PipelineOfFile : public ::testing::Test {
 protected:
  RankRuns run_of(const std::string& order) const {
    std::ofstream(path_) << order;
    RankRuns runs = pipeline_run(kPp2, kDouble, "1F1B", 2);
    runs.settings.push_back({"parallelism.pipeline_parallel_schedule_csv", path_});
    return runs;
  }
  ~PipelineOfFile() override { std::remove(path_.c_str()); }
  std::string path_ =
      ::testing::TempDir() + "titan_order_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
};

TEST_F(PipelineOfFile, LastInFirstOutIsOneRanksToo) {
  expect_parity(run_ranks(run_of("0F0,0F1,0B1,0B0\n1F0,1F1,1B1,1B0\n")), one_rank(kDouble), kDouble);
}

TEST_F(PipelineOfFile, NeighboursMayShareARank) {
  expect_parity(run_ranks(run_of("0F0,0F1,3F0,3B0,3F1,3B1,0B0,0B1\n1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n")),
                one_rank(kDouble), kDouble);
}

TEST_F(PipelineOfFile, AnOrderThatCannotRunStartsNowhere) {
  try {
    run_ranks(
        run_of("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
               "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n"));
    FAIL() << "a deadlock was started";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 0 waits in 0SEND_F1 for rank 1"));
  }
}

TEST(PipelineStages, MayBeNamed) {
  RankRuns runs = pipeline_run(kPp2, kDouble, "1F1B", 2);
  runs.settings.push_back({"parallelism.module_fqns_per_model_part",
                           "tok_embeddings layers.0,layers.1 layers.2 layers.3 layers.4 layers.5 layers.6 layers.7 "
                           "norm output"});
  expect_parity(run_ranks(runs), one_rank(kDouble), kDouble);
}

TEST(PipelineStages, GroupsOfTheOptimizerMayLieOnOneStage) {
  const std::string rules = R"([{"pattern": "^output", "optimizer_kwargs": {"lr": 0.0001}}])";
  RankRuns one = parity_run(kOneRank, kDouble, 1), two = pipeline_run(kPp2, kDouble, "1F1B", 2);
  for (RankRuns* runs : {&one, &two}) runs->settings.push_back({"optimizer.param_groups", rules});
  expect_parity(run_ranks(two), run_ranks(one), kDouble);
}

using Counts = std::map<std::string, int>;

/// How often a rank of pp2.fsdp2 calls what in its second step.
Counts counts(std::size_t rank, int group, int num_groups, const char* reshard) {
  RankRuns runs = pipeline_run({2, 1, 2, 1, 1}, kSingle, "1F1B", group, num_groups);
  runs.steps = 2;
  runs.settings.push_back({"parallelism.fsdp_reshard_after_forward", reshard});
  runs.settings.push_back({"debug.replica_audit_freq", "0"});
  const RankOutcome outcome = run_ranks(runs);
  Counts found;
  for (const auto& record : outcome.records[rank][1]) ++found[record.op + " " + record.group];
  return found;
}

// The tables of docs/parallelism.md. Units of the first stage: tok_embeddings and 4 layers, of the second: 4 layers,
// norm, output. The first stage sends each micro-batch forward and gets its gradient back.
TEST(PipelineCollectives, AreThoseOfTheDocumentedTable) {
  const auto expected = [](int gathers, int units, int micro_batches) {
    return Counts{{"_allgather_base fsdp", gathers},
                  {"_reduce_scatter_base fsdp", units * micro_batches},
                  {"all_reduce world", 2},
                  {"recv pp", micro_batches},
                  {"send pp", micro_batches}};
  };
  for (const auto& [rank, units] : {std::pair<std::size_t, int>{0, 5}, {2, 6}}) {
    EXPECT_EQ(counts(rank, 4, 1, "default"), expected(units, units, 4));
    EXPECT_EQ(counts(rank, 2, 2, "never"), expected(units, units, 4));
    EXPECT_EQ(counts(rank, 2, 1, "always"), expected(2 * units * 2, units, 2));
  }
}

template <class Expected>
void expect_end(RankRuns runs, const char* text) {
  try {
    run_ranks(runs);
    FAIL() << "the run went on";
  } catch (const Expected& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
  }
}

TEST(PipelineEnd, AnInfiniteLossIsOneRanksError) {
  for (const Degrees& degrees : {kOneRank, kPp2, Degrees{2, 1, 2, 1, 1}}) {
    RankRuns runs = pipeline_run(degrees, kSingle, "1F1B", 2);
    runs.settings.push_back({"optimizer.lr", "1e38"});
    expect_end<NonFiniteError>(runs, "stopped before the update, weights are unchanged: step 2");
  }
}

TEST(PipelineEnd, AStepWithoutLabelsIsOneRanksError) {
  RankRuns runs = pipeline_run(kPp2, kDouble, "1F1B", 2);
  runs.ignore = [](std::int64_t, std::int64_t) { return true; };
  expect_end<DataError>(runs, "nothing to learn from");
}

TEST(PipelineEnd, LayoutsThatDoNotFitAreRefused) {
  expect_end<ConfigError>(pipeline_run(kPp4, kDouble, "1F1B", 2),
                          "parallelism.num_pp_microbatches 2, parallelism.pipeline_parallel_degree 4");
  RankRuns runs = pipeline_run(kPp2, kDouble, "1F1B", 4);
  runs.settings.push_back({"parallelism.num_pp_microbatches", "3"});
  expect_end<ConfigError>(runs, "must be a multiple of parallelism.num_pp_microbatches: 4 = 1 x 3 + 1");
}

}  // namespace
}  // namespace titan::testing
