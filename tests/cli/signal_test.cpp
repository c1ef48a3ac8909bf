#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;

class SignalTest : public TrainTest {
 protected:
  /// A run in which the plugin does `deed` at `moment`.
  Command run_with(const std::string& deed, const std::string& moment) const {
    return tiny_run({"--plugin", test_plugin("mischief"), "--training.steps=1000000", "--validator.enable",
                     "--validator.freq=2", "--validator.steps=1"})
        .env("TITAN_MISCHIEF", deed)
        .env("TITAN_MISCHIEF_AT", moment)
        .env("TITAN_MISCHIEF_MARK", folder_ / "mark");
  }

  /// Nothing half-written: no temporary files; the configuration loads back; every line of metrics is whole.
  void expect_whole_files() const {
    if (!std::filesystem::exists(dump_folder())) return;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dump_folder())) {
      EXPECT_EQ(entry.path().filename().string().find(".tmp"), std::string::npos) << entry.path();
    }
    if (std::filesystem::exists(dump_folder() / "config.toml")) {
      EXPECT_THAT(titan({"config", "--config", dump_folder() / "config.toml"}).run(), ExitsWith(0));
    }
    const std::string metrics = read(dump_folder() / "metrics.jsonl");
    EXPECT_TRUE(metrics.empty() || metrics.ends_with("}\n")) << metrics;
  }
};

TEST_F(SignalTest, WhileReadingPlugins) {
  EXPECT_THAT(run_with("interrupt", "describe").run(), ExitsWith(130));
  EXPECT_FALSE(std::filesystem::exists(dump_folder())) << "a run that was stopped before it began left files";
}

TEST_F(SignalTest, WhileStartingPlugins) {
  EXPECT_THAT(run_with("interrupt", "init").run(), ExitsWith(130));
  EXPECT_FALSE(std::filesystem::exists(dump_folder() / "metrics.jsonl"));
  expect_whole_files();
}

TEST_F(SignalTest, BeforeTheFirstStep) {
  EXPECT_THAT(run_with("interrupt", "run_begin").run(), ExitsWith(130));
  expect_whole_files();
}

TEST_F(SignalTest, InAStep) {
  const Outcome outcome = run_with("interrupt", "step").run();
  EXPECT_THAT(outcome, ExitsWith(130));
  EXPECT_THAT(outcome, Says("SIGINT"));
  EXPECT_THAT(read(dump_folder() / "metrics.jsonl"), testing::HasSubstr("\"step\": 1"));
  expect_whole_files();
}

TEST_F(SignalTest, InAValidation) {
  EXPECT_THAT(run_with("interrupt", "validation").run(), ExitsWith(130));
  expect_whole_files();
}

TEST_F(SignalTest, OthersStopToo) {
  EXPECT_THAT(run_with("terminate", "step").run(), ExitsWith(143));
  EXPECT_THAT(run_with("hang_up", "step").run(), ExitsWith(129));
  EXPECT_THAT(run_with("quit", "step").run(), AllOf(ExitsWith(128 + SIGQUIT), Says("SIGQUIT")));
  EXPECT_THAT(run_with("user_signal", "step").run(), AllOf(ExitsWith(128 + SIGUSR1), Says("SIGUSR1")));
}

TEST_F(SignalTest, ASecondOneEndsAtOnce) {
  EXPECT_THAT(run_with("interrupt_twice", "step").run(), ExitsWith(130));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mark")) << "the plugin went on after the second signal";
}

TEST_F(SignalTest, AnotherOneEndsAtOnceHoweverSoon) {
  EXPECT_THAT(run_with("interrupt_and_terminate", "step").run(), ExitsWith(143));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mark")) << "the plugin went on after the second signal";
}

// As `timeout` sends it, to its child and then to its group.
TEST_F(SignalTest, ACopyIsNoSecondOne) {
  const Outcome outcome = run_with("interrupt_in_copies", "step").run();
  EXPECT_THAT(outcome, ExitsWith(130));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "mark")) << "the step was cut off";
}

TEST_F(SignalTest, OneDoesNotEndAtOnce) {
  EXPECT_THAT(run_with("interrupt", "run_begin").run(), ExitsWith(130));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "mark")) << "the plugin could not finish its callback";
}

// The plugin's init never comes back: before training there is nothing to wait for.
TEST_F(SignalTest, AStartThatHangsIsNotWaitedFor) {
  EXPECT_THAT(run_with("interrupt_and_hang", "init").limit(60).run(), ExitsWith(130));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "mark"));
  expect_whole_files();
}

TEST_F(SignalTest, ASlowStepIsWaitedFor) {
  EXPECT_THAT(run_with("interrupt_and_sleep", "step").run(), ExitsWith(130));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "mark")) << "the step was cut off";
}

// Delays from the first milliseconds of the process to the middle of training, whatever the phase then is.
TEST_F(SignalTest, AtAnyMoment) {
  for (const int delay_ms : {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    Command command = run_with("", "");
    Process process = command.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    process.signal(SIGINT);
    const Outcome outcome = process.wait();
    // Before main has installed its handler, the signal has its default effect, with the same status.
    EXPECT_EQ(outcome.status, 130) << "after " << delay_ms << " ms: " << outcome.text();
    expect_whole_files();
    std::filesystem::remove_all(dump_folder());
  }
}

}  // namespace
}  // namespace titan::cli
