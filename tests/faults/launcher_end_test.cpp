// The launcher itself is ended: no rank outlives it.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/faults/ranks.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;

class LauncherEndTest : public RanksTest {
 protected:
  void start() { start(launch(2, run())); }
  void start(Command command) {
    launcher_.emplace(command.start());
    ASSERT_TRUE(wait_for_step(2));
    for (const int rank : {0, 1}) ranks_.push_back(pid_of_rank(launcher_->pid(), rank));
    port_ = std::stoi(variable_of(ranks_[0], "MASTER_PORT").value_or("0"));
  }
  void expect_no_rank_left() const {
    for (const pid_t rank : ranks_) EXPECT_TRUE(wait_until([&] { return !is_alive(rank); })) << rank;
  }

  std::optional<Process> launcher_;
  std::vector<pid_t> ranks_;
  int port_ = 0;
};

TEST_F(LauncherEndTest, Killed) {
  start();
  launcher_->signal(SIGKILL);
  EXPECT_EQ(launcher_->wait().status, 137);
  expect_no_rank_left();
}

TEST_F(LauncherEndTest, Interrupted) {
  start();
  launcher_->signal(SIGINT);
  EXPECT_THAT(launcher_->wait(), AllOf(ExitsWith(130), Says("passing on SIGINT")));
  expect_no_rank_left();
}

TEST_F(LauncherEndTest, Terminated) {
  start();
  launcher_->signal(SIGTERM);
  EXPECT_THAT(launcher_->wait(), ExitsWith(143));
  expect_no_rank_left();
}

TEST_F(LauncherEndTest, OtherSignalsThatAskForAnEnd) {
  for (const int signal : {SIGQUIT, SIGUSR1}) {
    ranks_.clear();
    start();
    launcher_->signal(signal);
    EXPECT_THAT(launcher_->wait(), ExitsWith(128 + signal));
    expect_no_rank_left();
    for (const int rank : {0, 1}) EXPECT_THAT(error_of(rank), testing::HasSubstr("stopped on request"));
    std::filesystem::remove_all(dump_folder());
  }
}

TEST_F(LauncherEndTest, ASecondSignalEndsAtOnce) {
  start();
  for (const pid_t rank : ranks_) ::kill(rank, SIGSTOP);
  // Two that come at once are read in the order of their numbers, and two different ones are no copies.
  launcher_->signal(SIGINT);
  launcher_->signal(SIGTERM);
  EXPECT_THAT(launcher_->wait(), AllOf(ExitsWith(130), Says("a second signal")));
  expect_no_rank_left();
}

TEST_F(LauncherEndTest, AStoppedRankHearsOfTheStop) {
  start();
  ::kill(ranks_[1], SIGSTOP);
  launcher_->signal(SIGTERM);
  EXPECT_THAT(launcher_->wait(), ExitsWith(143));
  expect_no_rank_left();
}

TEST_F(LauncherEndTest, ASignalToOneRankStopsAll) {
  start();
  ::kill(ranks_[1], SIGTERM);
  EXPECT_EQ(launcher_->wait().status, 143);
  expect_no_rank_left();
}

// Slurm sends its signal to every process of a job, and the launcher passes its own on: that is one request, not a
// second signal, which would end a rank in the middle of its step.
TEST_F(LauncherEndTest, ASchedulerThatSignalsEverybody) {
  // The third step lasts, so that both signals come in it.
  start(launch(2, run()).env("TITAN_MISCHIEF", "sleep").env("TITAN_MISCHIEF_AT", "step:3"));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  for (const pid_t rank : ranks_) ::kill(rank, SIGTERM);
  for (const char* log : {"rank_0.stderr.log", "rank_1.stderr.log"}) {
    ASSERT_TRUE(wait_until([&] { return read(dump_folder() / "logs" / log).find("stopping") != std::string::npos; }));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // longer than copies of one signal are taken for one
  launcher_->signal(SIGTERM);
  EXPECT_THAT(launcher_->wait(), ExitsWith(143));
  for (const int rank : {0, 1}) {
    EXPECT_THAT(error_of(rank), testing::HasSubstr("stopped on request")) << "the rank could not end as it should";
  }
}

TEST_F(LauncherEndTest, AConsoleThatIsGoneDoesNotHarmTheRun) {
  const std::vector<std::string> words = run({"--training.steps=5"});
  EXPECT_THAT(launch(2, words).redirect(1, "").redirect(2, "").run(), ExitsWith(0));
  EXPECT_THAT(launch(2, words).redirect(1, "/dev/full").redirect(2, "/dev/full").run(), ExitsWith(0));
}

}  // namespace
}  // namespace titan::cli
