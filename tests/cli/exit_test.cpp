#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

/// What a plugin does to the process must not look like success.
class ExitTest : public TrainTest {
 protected:
  Outcome outcome_of(const std::string& deed, const std::string& moment) const {
    return tiny_run({"--plugin", test_plugin("mischief")})
        .env("TITAN_MISCHIEF", deed)
        .env("TITAN_MISCHIEF_AT", moment)
        .run();
  }
};

TEST_F(ExitTest, LeavingTheProcessIsNoSuccess) {
  for (const char* deed : {"exit", "quick_exit", "_exit", "_Exit"}) {
    const Outcome outcome = outcome_of(deed, "step");
    EXPECT_THAT(outcome, ExitsWith(70)) << deed;
    EXPECT_THAT(outcome, Says("ended the process before the work was done")) << deed;
  }
}

TEST_F(ExitTest, NoMomentIsAnExcuse) {
  for (const char* moment : {"describe", "init", "run_begin", "run_end", "shutdown"}) {
    EXPECT_THAT(outcome_of("exit", moment), ExitsWith(70)) << moment;
  }
}

TEST_F(ExitTest, ACrashNamesPluginAndCallback) {
  for (const auto& [deed, signal] : {std::pair("crash", 11), std::pair("abort", 6)}) {
    const Outcome outcome = outcome_of(deed, "step");
    EXPECT_TRUE(outcome.was_killed) << outcome.text();
    EXPECT_EQ(outcome.status, 128 + signal) << outcome.text();
    EXPECT_THAT(outcome, Says("in plugin mischief, callback step_end"));
  }
}

TEST_F(ExitTest, ACrashInInitNamesIt) {
  EXPECT_THAT(outcome_of("crash", "init"), Says("in plugin mischief, callback init"));
}

TEST_F(ExitTest, AnObserversErrorDoesNotStopTraining) {
  const Outcome outcome = outcome_of("throw", "step");
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("mischief threw"));
  EXPECT_THAT(outcome, Says("step:  3"));
  EXPECT_EQ(outcome.err.find("mischief threw"), outcome.err.rfind("mischief threw")) << "more than one warning";
}

TEST_F(ExitTest, AnErrorOfInitStopsTheRun) {
  const Outcome outcome = outcome_of("throw", "init");
  EXPECT_THAT(outcome, ExitsWith(70));
  EXPECT_THAT(outcome, Says("mischief"));
}

TEST_F(ExitTest, HoweverLittleMemoryThereIsTheRunSaysSo) {
  // With more, libc and oneDNN find out for themselves that there is none.
  for (const std::uint64_t mebibytes : {100, 200, 300, 340, 360, 380, 400, 420}) {
    const Outcome outcome = tiny_run({"--training.steps=1"}).address_space(mebibytes << 20U).run();
    if (outcome.status == 0) continue;
    EXPECT_THAT(outcome, ExitsWith(71)) << mebibytes;
    EXPECT_THAT(outcome.err, testing::ContainsRegex("out of memory")) << mebibytes;
  }
}

}  // namespace
}  // namespace titan::cli
