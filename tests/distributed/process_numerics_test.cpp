// What somebody sees of numbers that are not finite, and of replays: ranks are processes.
#include <gtest/gtest.h>

#include "tests/distributed/process_runs.hpp"

namespace titan::cli {
namespace {

class ProcessNumerics : public ProcessRunsTest {
 protected:
  /// Two ranks of FSDP, the second of which gives a NaN.
  Command faulty_run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--plugin", TITAN_FAULTY_PLUGIN, "--faulty.fault", "nan", "--faulty.rank", "1",
                                 "--faulty.module", "layers.0.feed_forward.w2", "--debug.seed", "1"});
    return launched(words);
  }
  Command launched(const std::vector<std::string>& words) const {
    return titan({"launch", "--nproc-per-node", "2", "--", "train"}).args(tiny_model()).args(words);
  }
};

TEST_F(ProcessNumerics, ANaNOfOneRankEndsAllWithItsPlace) {
  const Outcome outcome = faulty_run({}).run();
  EXPECT_THAT(outcome, ExitsWith(80));
  EXPECT_THAT(outcome, Says("stopped before the update, weights are unchanged: step 1: rank 1: loss nan"));
  EXPECT_THAT(outcome, Says("in forward of layers.0.feed_forward.w2, micro-batch 0: output 0"));
  EXPECT_THAT(outcome, Says("it is not finite: NaN at [0, 0, 3], 1 NaN of"));
  EXPECT_THAT(outcome, Says("; later on rank 0"));
}

TEST_F(ProcessNumerics, AStepThatIsNotFiniteMayBeLeftOut) {
  const Outcome outcome = faulty_run({"--debug.on_non_finite", "skip", "--metrics.log_freq", "1"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("the update of a step is left out, weights are unchanged: step 3: rank 1: loss nan"));
}

TEST_F(ProcessNumerics, AReplayLeavesTheFiguresAsTheyAre) {
  const std::vector<std::string> plain{"--debug.deterministic", "--training.steps", "3"};
  std::vector<std::string> replayed = plain;
  replayed.insert(replayed.end(), {"--sdc_replay.enabled", "--sdc_replay.num_steps", "-1"});
  const std::vector<Metrics> expected = metrics_of("plain", 2, plain), checked = metrics_of("replayed", 2, replayed);
  ASSERT_EQ(checked.size(), expected.size());
  for (std::size_t i = 0; i < checked.size(); ++i) {
    EXPECT_EQ(checked[i].loss, expected[i].loss);
    EXPECT_EQ(checked[i].grad_norm, expected[i].grad_norm);
  }
}

TEST_F(ProcessNumerics, AReplayOfARunThatMayDifferIsRefused) {
  EXPECT_THAT(tiny_run({"--sdc_replay.enabled"}).run(), ExitsWith(78));
  EXPECT_THAT(tiny_run({"--sdc_replay.num_steps", "2"}).run(), ExitsWith(78));
  EXPECT_THAT(tiny_run({"--sdc_replay.num_replays", "0"}).run(), ExitsWith(78));
  EXPECT_THAT(tiny_run({"--debug.deterministic"}).env("CUBLAS_WORKSPACE_CONFIG", ":0:0").run(), ExitsWith(78));
}

}  // namespace
}  // namespace titan::cli
