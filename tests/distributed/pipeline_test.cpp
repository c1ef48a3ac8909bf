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

using ::testing::AllOf;
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

}  // namespace
}  // namespace titan::testing
