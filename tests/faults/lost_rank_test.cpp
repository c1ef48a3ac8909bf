// One rank dies, hangs or is stopped in training: the others end, and the launcher names it.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/faults/ranks.hpp"
#include "tests/support/ports.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LostRankTest : public RanksTest {
 protected:
  /// Three ranks, of which one does `deed` at a moment: by default after the backward of the second step.
  Command launch_with(const std::string& deed, int rank, std::initializer_list<std::string> flags = {},
                      const std::string& moment = "end:2") const {
    const bool is_silent = deed == "stop" || deed == "hang";
    return launch(3, is_silent ? run({kShortTimeout}) : run(), flags)
        .env("TITAN_MISCHIEF", deed)
        .env("TITAN_MISCHIEF_AT", moment)
        .env("TITAN_MISCHIEF_RANK", std::to_string(rank));
  }

  /// The others lost their peer, and say which one, and in which call.
  void expect_peers_lost(int lost) const {
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == lost) continue;
      EXPECT_THAT(error_of(rank), AllOf(HasSubstr("\"code\": 69"), HasSubstr(", sequence "), HasSubstr(", elapsed "),
                                        HasSubstr("missing rank " + std::to_string(lost))));
    }
  }
};

TEST_F(LostRankTest, Killed) {
  const std::vector<std::string> moments = {"begin:2", "end:2", "updated:2"};
  for (const int rank : {0, 1, 2}) {
    const std::string name = "rank " + std::to_string(rank);
    const Outcome outcome = launch_with("kill", rank, {}, moments[static_cast<std::size_t>(rank)]).run();
    EXPECT_THAT(outcome,
                AllOf(ExitsWith(137), Says(name + " failed first: it was killed by SIGKILL (9)"), Says("exited 69")));
    expect_peers_lost(rank);
  }
}

TEST_F(LostRankTest, Stopped) {
  const Outcome outcome = launch_with("stop", 1).run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(69), Says("rank 1 was stopped by SIGSTOP"),
                             Says("rank 1 failed first: it was stopped"), Says("ranks 0, 2 exited 69")));
  expect_peers_lost(1);
}

TEST_F(LostRankTest, Throws) {
  const Outcome outcome = launch_with("throw", 2).run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(70), Says("rank 2 failed first: it exited 70 (in training)"),
                             Says("rank 2 says: "), Says("mischief threw")));
  EXPECT_THAT(error_of(0), AllOf(HasSubstr("\"code\": 69"), HasSubstr("mischief threw")))
      << "peers quote the root cause";
}

TEST_F(LostRankTest, ExitsZeroEarly) {
  EXPECT_THAT(launch_with("exit", 1).run(), AllOf(ExitsWith(70), Says("rank 1 failed first: it exited 70")));
  EXPECT_THAT(launch_with("_Exit", 1).run(), AllOf(ExitsWith(70), Says("rank 1 failed first: it exited 70")));
  EXPECT_THAT(launch_with("exit_group", 1).run(),
              AllOf(ExitsWith(70), Says("rank 1 failed first: it exited 0 without its completion token")));
}

TEST_F(LostRankTest, Crashes) {
  EXPECT_THAT(launch_with("crash", 0).run(), AllOf(ExitsWith(128 + SIGSEGV), Says("in plugin saboteur"),
                                                   Says("rank 0 failed first: it was killed by SIGSEGV")));
  EXPECT_THAT(launch_with("abort", 2).run(), AllOf(ExitsWith(128 + SIGABRT), Says("rank 2 failed first")));
}

TEST_F(LostRankTest, LoopsForEver) {
  const Outcome outcome = launch_with("hang", 1, {"--grace-seconds", "1"}).run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(69), Says("failed first: it exited 69"), Says("rank 1 was killed")));
  expect_peers_lost(1);
}

// What another process does to a rank, at any moment of a step.
TEST_F(LostRankTest, KilledFromOutside) {
  Process launcher = launch(2, run()).start();
  ASSERT_TRUE(wait_for_step(3));
  const pid_t victim = pid_of_rank(launcher.pid(), 1);
  const pid_t survivor = pid_of_rank(launcher.pid(), 0);
  ::kill(victim, SIGKILL);
  EXPECT_THAT(launcher.wait(), AllOf(ExitsWith(137), Says("rank 1 failed first")));
  EXPECT_FALSE(is_alive(victim));
  EXPECT_FALSE(is_alive(survivor));
}

// Without a launcher nobody ends the survivor: it ends by itself.
TEST_F(LostRankTest, KilledWithoutALauncher) {
  const test::ReservedPort reserved;
  const int port = reserved.port();
  Process first = by_hand(0, 2, port, run()).start();
  Process second = by_hand(1, 2, port, run()).start();
  ASSERT_TRUE(wait_for_step(2));
  second.signal(SIGKILL);
  EXPECT_THAT(first.wait(), AllOf(ExitsWith(69), Says("missing rank 1")));
  EXPECT_THAT(error_of(0), AllOf(HasSubstr("\"code\": 69"), HasSubstr("missing rank 1")));
}

TEST_F(LostRankTest, StoppedWithoutALauncher) {
  const test::ReservedPort reserved;
  const int port = reserved.port();
  Process first = by_hand(0, 2, port, run({kShortTimeout})).start();
  Process second = by_hand(1, 2, port, run({kShortTimeout})).start();
  ASSERT_TRUE(wait_for_step(2));
  first.signal(SIGSTOP);  // rank 0 serves the store, too
  EXPECT_THAT(second.wait(), AllOf(ExitsWith(69), Says("missing rank 0")));
}

}  // namespace
}  // namespace titan::cli
