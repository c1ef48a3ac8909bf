// Ranks are killed or stopped while they save: a good step stays, and the next run goes on from it.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/faults/saved_steps.hpp"
#include "tests/support/ports.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class KilledInASaveTest : public SavedStepsTest {
 protected:
  /// One of two ranks, of which strace watches the one that gets killed.
  Command rank(int rank, int victim, const std::string& injection, int port) const {
    const std::vector<std::string> words = saving(1'000'000);
    const std::string number = std::to_string(rank);
    return (rank == victim ? traced(folder_, injection, words) : alone(words))
        .env("RANK", number)
        .env("WORLD_SIZE", "2")
        .env("MASTER_ADDR", "127.0.0.1")
        .env("MASTER_PORT", std::to_string(port));
  }
};

// A sample, in the real program; every call of a save: tests/unit/checkpoint/every_kill_point_test.cpp.
TEST_F(KilledInASaveTest, AtASystemCall) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  EXPECT_THAT(alone(saving(10)).run(), ExitsWith(0));
  // The thread that publishes syncs six times, renames the manifest and the step, then an old step, and removes it.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"disabled", "fsync:signal=SIGKILL:when=4"},     {"disabled", "renameat2:signal=SIGKILL:when=1"},
      {"disabled", "renameat2:signal=SIGKILL:when=3"}, {"async", "fsync:signal=SIGKILL:when=3"},
      {"async", "renameat2:signal=SIGKILL:when=2"},    {"async", "unlink:signal=SIGKILL:when=2"}};
  for (const auto& [mode, call] : cases) {
    SCOPED_TRACE(mode + ", " + call);
    const std::int64_t before = whole_steps().back();
    const Outcome outcome = traced(folder_, call, saving(1'000'000, {"--checkpoint.async_mode=" + mode})).run();
    EXPECT_EQ(outcome.status, 137) << outcome.text();
    ASSERT_THAT(whole_steps(), Not(IsEmpty()));
    EXPECT_GE(whole_steps().back(), before);
  }
  expect_to_go_on(static_cast<int>(whole_steps().back()) + 7);
}

TEST_F(KilledInASaveTest, OneOfTwoRanks) {
  if (!can_trace()) GTEST_SKIP() << "no strace, or it may not trace";
  EXPECT_THAT(launch(2, saving(10)).run(), ExitsWith(0));
  const std::vector<std::pair<int, std::string>> cases = {
      {0, "renameat2:signal=SIGKILL:when=2"}, {0, "fsync:signal=SIGKILL:when=3"}, {1, "fsync:signal=SIGKILL:when=1"}};
  for (const auto& [victim, call] : cases) {
    SCOPED_TRACE("rank " + std::to_string(victim) + ", " + call);
    const std::int64_t before = whole_steps().back();
    const test::ReservedPort reserved;
    const int port = reserved.port();
    Process first = rank(0, victim, call, port).start();
    Process second = rank(1, victim, call, port).start();
    const Outcome killed = (victim == 0 ? first : second).wait();
    const Outcome survivor = (victim == 0 ? second : first).wait();
    EXPECT_EQ(killed.status, 137) << killed.text();
    EXPECT_THAT(survivor,
                AllOf(ExitsWith(69), Says("missing rank " + std::to_string(victim)), Says("checkpoint.save")));
    ASSERT_THAT(whole_steps(), Not(IsEmpty()));
    EXPECT_GE(whole_steps().back(), before);
  }
  expect_to_go_on(static_cast<int>(whole_steps().back()) + 7, 2);
}

TEST_F(KilledInASaveTest, AllOfThemAtAnyTime) {
  int end = 0;
  for (const int delay_ms : {0, 30, 70}) {
    // Something is being saved at nearly every moment.
    Process launcher = launch(2, saving(1'000'000, {"--checkpoint.interval=1"})).start();
    ASSERT_TRUE(wait_for_checkpoint(end + 3) || end > 0);
    ASSERT_TRUE(wait_until([&] { return last_step() > end + 3; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    const std::vector<pid_t> ranks = {pid_of_rank(launcher.pid(), 0), pid_of_rank(launcher.pid(), 1)};
    launcher.signal(SIGKILL);
    EXPECT_EQ(launcher.wait().status, 137);
    for (const pid_t rank : ranks) EXPECT_TRUE(wait_until([&] { return !is_alive(rank); }));
    ASSERT_THAT(whole_steps(), Not(IsEmpty()));
    EXPECT_GT(whole_steps().back(), end);
    end = static_cast<int>(whole_steps().back());
  }
  expect_to_go_on(end + 3, 2);
}

// The one that was stopped still has the run's lock, so that no other run can begin before it has ended, and what it
// does once it goes on is whole or nothing.
TEST_F(KilledInASaveTest, StoppedForLong) {
  const test::ReservedPort reserved;
  const int port = reserved.port();
  const std::vector<std::string> words = saving(1'000'000, {"--checkpoint.interval=1", kShortTimeout});
  Process first = by_hand(0, 2, port, words).start();
  Process second = by_hand(1, 2, port, words).start();
  ASSERT_TRUE(wait_for_step(4));
  first.signal(SIGSTOP);
  EXPECT_THAT(second.wait(), AllOf(ExitsWith(69), Says("missing rank 0")));
  EXPECT_THAT(alone(saving(100)).run(), AllOf(ExitsWith(73), Says("locked by process")));
  first.signal(SIGCONT);
  EXPECT_THAT(first.wait(), ExitsWith(69));
  ASSERT_THAT(whole_steps(), Not(IsEmpty()));
  expect_to_go_on(static_cast<int>(whole_steps().back()) + 2);
}

TEST_F(KilledInASaveTest, ARollbackKeepsHistoriesApart) {
  const auto at = [&](int steps, std::initializer_list<std::string> words) {
    std::vector<std::string> out = saving(steps, {"--checkpoint.keep_latest_k=0"});
    out.insert(out.end(), words.begin(), words.end());
    return out;
  };
  EXPECT_THAT(alone(at(20, {})).run(), ExitsWith(0));
  EXPECT_THAT(whole_steps(), ElementsAre(5, 10, 15, 20));

  // Killed while the step is written: nothing has moved yet.
  if (can_trace()) {
    const Outcome killed =
        traced(folder_, "fsync:signal=SIGKILL:when=4", at(1'000'000, {"--checkpoint.load_step=10"})).run();
    EXPECT_EQ(killed.status, 137) << killed.text();
    EXPECT_THAT(whole_steps(), ElementsAre(5, 10, 15, 20));
  }
  EXPECT_THAT(alone(at(17, {"--checkpoint.load_step=10"})).run(),
              AllOf(ExitsWith(0), Says("moved steps of another history")));
  EXPECT_THAT(whole_steps(), ElementsAre(5, 10, 15, 17));
  EXPECT_THAT(alone(at(22, {})).run(), AllOf(ExitsWith(0), Says("step-17")));
  EXPECT_THAT(whole_steps(), ElementsAre(5, 10, 15, 17, 20, 22));
}

}  // namespace
}  // namespace titan::cli
