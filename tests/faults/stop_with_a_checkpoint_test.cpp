// A run that is asked to stop saves the step that all ranks agree on, and says with its exit status that it did.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "core/checkpoint/disk.hpp"
#include "tests/faults/saved_steps.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kRarely = "--checkpoint.interval=1000000";

class StopWithACheckpointTest : public SavedStepsTest {
 protected:
  /// The step of the stop is the last one, and saved.
  void expect_stopped(const Outcome& outcome, int num_ranks) const {
    EXPECT_THAT(outcome, ExitsWith(75));
    ASSERT_THAT(whole_steps(), Not(IsEmpty()));
    EXPECT_EQ(whole_steps().back(), last_step());
    expect_to_go_on(static_cast<int>(last_step()) + 2, num_ranks);
    std::filesystem::remove_all(dump_folder());
  }

  /// Whether there is a shard that belongs to no committed step yet.
  bool is_saving() const {
    if (!std::filesystem::exists(checkpoints())) return false;
    const std::vector<std::string> names = checkpoint::names_in(checkpoints());
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.starts_with(".step-5.tmp-") && std::filesystem::exists(checkpoints() / name / kShard);
    });
  }
  static constexpr const char* kShard = "shard-00000-of-00001.safetensors";

  /// What strace runs; 0: nothing within a minute.
  static pid_t child_of(pid_t tracer) {
    const std::string pid = std::to_string(tracer);
    pid_t child = 0;
    wait_until([&] {
      const std::string children = read("/proc/" + pid + "/task/" + pid + "/children");
      if (!children.empty()) child = std::stoi(children);
      return child > 0;
    });
    return child;
  }
};

TEST_F(StopWithACheckpointTest, AskedForThroughTheLauncher) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    SCOPED_TRACE(signal);
    Process launcher = launch(2, saving(1'000'000, {kRarely})).start();
    ASSERT_TRUE(wait_for_step(2));
    launcher.signal(signal);
    expect_stopped(launcher.wait(), 1);
  }
}

TEST_F(StopWithACheckpointTest, OneRankThatIsAskedIsEnough) {
  for (const int rank : {0, 1}) {
    Process launcher = launch(2, saving(1'000'000, {kRarely, "--checkpoint.async_mode=async"})).start();
    ASSERT_TRUE(wait_for_step(2));
    ::kill(pid_of_rank(launcher.pid(), rank), SIGTERM);
    expect_stopped(launcher.wait(), 2);
  }
}

TEST_F(StopWithACheckpointTest, OneProcessAlone) {
  Process process = alone(saving(1'000'000, {kRarely})).start();
  ASSERT_TRUE(wait_for_step(2));
  process.signal(SIGUSR1);
  expect_stopped(process.wait(), 1);
}

TEST_F(StopWithACheckpointTest, WhileASaveIsUnderWay) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  for (const std::string mode : {"disabled", "async"}) {
    SCOPED_TRACE(mode);
    const std::vector<std::string> words = saving(1'000'000, {"--checkpoint.async_mode=" + mode});
    Process tracer = traced(folder_, "fsync:delay_enter=500000", words).start();
    ASSERT_TRUE(wait_until([&] { return !is_alive(tracer.pid()) || is_saving(); }));
    const pid_t child = child_of(tracer.pid());
    ASSERT_GT(child, 0);
    ::kill(child, SIGTERM);
    expect_stopped(tracer.wait(), 1);
  }
}

TEST_F(StopWithACheckpointTest, BeforeTheFirstStepThereIsNothingToSave) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    Process process = alone(saving(1'000'000)).start();
    process.signal(signal);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, 128 + signal) << outcome.text();
    EXPECT_FALSE(std::filesystem::exists(checkpoints()));
  }
  const Outcome outcome =
      alone(saving(1'000'000)).env("TITAN_MISCHIEF", "terminate").env("TITAN_MISCHIEF_AT", "run_begin").run();
  EXPECT_THAT(outcome, ExitsWith(143));
  EXPECT_THAT(whole_steps(), IsEmpty());
}

TEST_F(StopWithACheckpointTest, WithoutCheckpointsTheSignalIsTheStatus) {
  Process launcher = launch(2, run()).start();
  ASSERT_TRUE(wait_for_step(2));
  launcher.signal(SIGTERM);
  EXPECT_THAT(launcher.wait(), ExitsWith(143));
  EXPECT_FALSE(std::filesystem::exists(checkpoints()));
}

TEST_F(StopWithACheckpointTest, ASecondSignalDoesNotWaitForTheSave) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  EXPECT_THAT(alone(saving(5)).run(), ExitsWith(0));
  const Outcome outcome = traced(folder_, "fsync:delay_enter=20000000:when=3", saving(1'000'000, {kRarely}))
                              .env("TITAN_MISCHIEF", "interrupt_and_terminate")
                              .env("TITAN_MISCHIEF_AT", "step")
                              .run();
  EXPECT_EQ(outcome.status, 143) << outcome.text();
  EXPECT_EQ(whole_steps().back(), 5);
  expect_to_go_on(7);
}

// The launcher kills what does not end in its grace; the older step stays, and the log says how long a save takes.
TEST_F(StopWithACheckpointTest, AGraceThatIsTooShort) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  std::vector<std::string> words = {"launch", "--nproc-per-node", "2", "--grace-seconds", "2", "--"};
  const std::vector<std::string> run = saving(1'000'000, {"--checkpoint.interval=8"});
  words.insert(words.end(), run.begin(), run.end());
  Process tracer = traced(folder_, "fsync:delay_enter=1500000", words).start();
  ASSERT_TRUE(wait_for_checkpoint(8));
  ASSERT_TRUE(wait_for_step(10));
  const pid_t child = child_of(tracer.pid());
  ASSERT_GT(child, 0);
  ::kill(child, SIGTERM);
  const Outcome outcome = tracer.wait();
  EXPECT_EQ(outcome.status, 143) << outcome.text();
  EXPECT_THAT(outcome.err, HasSubstr("which did not leave"));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("the last save took "));
  EXPECT_EQ(whole_steps().back() % 8, 0);
  expect_to_go_on(static_cast<int>(whole_steps().back()) + 2, 2);
}

}  // namespace
}  // namespace titan::cli
