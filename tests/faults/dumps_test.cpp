// What the ranks of a run that breaks write down and say: who is missing at which call, and what each was doing.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/faults/dumps.hpp"
#include "tests/support/ports.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

using Ranks = std::set<std::int64_t>;

class DumpsTest : public RanksTest {
 protected:
  Command launch_with(const std::string& deed, int rank, const std::string& moment, bool short_timeout) const {
    return launch(3, short_timeout ? run({kShortTimeout}) : run())
        .env("TITAN_MISCHIEF", deed)
        .env("TITAN_MISCHIEF_AT", moment)
        .env("TITAN_MISCHIEF_RANK", std::to_string(rank));
  }

  /// Three ranks of which one makes an odd call in the third step.
  Command launch_odd(const std::string& call, int rank) const {
    const std::string plugin = std::filesystem::path(TITAN_FAULT_PLUGINS) / "odd_caller.so";
    return launch(3, run({kShortTimeout, "--plugin", plugin}))
        .env("TITAN_ODD_CALL", call)
        .env("TITAN_ODD_RANK", std::to_string(rank));
  }

  DumpsOfRanks dumps() const { return DumpsOfRanks(dump_folder()); }

  /// These ranks and no others have written their calls down, and say why.
  void expect_dumps(const Ranks& ranks, const std::string& cause) const {
    const DumpsOfRanks all = dumps();
    EXPECT_EQ(all.ranks(), ranks);
    for (const std::int64_t rank : ranks) {
      EXPECT_EQ(all.cause(rank), cause) << rank;
      EXPECT_NE(all.place(rank), "") << rank;
      EXPECT_NE(all.reason(rank), "") << rank;
    }
  }
};

// One run after the other in one folder: what the one before left is not of this one.
TEST_F(DumpsTest, OfTheSurvivorsOfAKilledRank) {
  const std::vector<std::string> moments = {"begin:2", "end:2", "updated:2"};
  for (const int rank : {0, 1, 2}) {
    const Outcome outcome = launch_with("kill", rank, moments[static_cast<std::size_t>(rank)], false).run();
    const std::string name = "rank " + std::to_string(rank);
    // Rank 0 serves the ranks' store, which is gone with it.
    const std::string silence =
        rank == 0 ? "rank 0 serves the ranks' store, which does not answer: stopped, dead"
                  : "no answer from " + name + ": stopped or dead; the call before was done with all: ";
    EXPECT_THAT(outcome,
                AllOf(ExitsWith(137), Says(name + " failed first: it was killed by SIGKILL (9)"),
                      Says("[comm] a call failed: a connection was lost, missing " + name), Says(silence),
                      Says("2 ranks have written down their last calls; to compare them: titan trace analyse ")));
    Ranks survivors = {0, 1, 2};
    survivors.erase(rank);
    expect_dumps(survivors, "error");
    for (const std::int64_t survivor : survivors) EXPECT_FALSE(dumps().open_calls(survivor).empty()) << survivor;
  }
}

// Nobody ends the survivors: each says itself what is wrong.
TEST_F(DumpsTest, OfASurvivorWithoutALauncher) {
  const test::ReservedPort reserved;
  const int port = reserved.port();
  Process first = by_hand(0, 2, port, run()).start();
  Process second = by_hand(1, 2, port, run()).start();
  ASSERT_TRUE(wait_for_step(2));
  second.signal(SIGKILL);
  EXPECT_THAT(first.wait(), AllOf(ExitsWith(69), Says("missing rank 1"), Says("comm_traces/rank_0")));
  expect_dumps({0}, "error");
}

TEST_F(DumpsTest, OfThePeersOfAStoppedRank) {
  EXPECT_THAT(launch_with("stop", 1, "end:2", true).run(),
              AllOf(ExitsWith(69), Says("rank 1 failed first: it was stopped"),
                    Says("[comm] a call was not done in time: missing rank 1, "), Says("limit 5.0 s"),
                    Says("2 ranks have written down their last calls")));
  expect_dumps({0, 2}, "timeout");
}

// It goes on when the others have given up, and learns why.
TEST_F(DumpsTest, OfARankThatWasStoppedTooLong) {
  const test::ReservedPort reserved;
  const int port = reserved.port();
  const std::vector<std::string> words = run({kShortTimeout});
  Process first = by_hand(0, 2, port, words).start();
  Process second = by_hand(1, 2, port, words).start();
  ASSERT_TRUE(wait_for_step(2));
  second.signal(SIGSTOP);
  EXPECT_THAT(first.wait(), AllOf(ExitsWith(69), Says("no answer from rank 1: stopped or dead")));
  second.signal(SIGCONT);
  EXPECT_THAT(second.wait(), ExitsWith(69));
  EXPECT_EQ(dumps().ranks(), Ranks({0, 1}));
}

// Sleeps for eight seconds while the others wait for five.
TEST_F(DumpsTest, OfARankThatComesTooLate) {
  const Outcome outcome = launch_with("sleep", 1, "end:2", true).run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(69), Says("missing rank 1, "), Says("rank 1 is at step 2"), Says("; runs "),
                             Says("titan::mischief::act"), Says("; last call in this group: "),
                             Says("3 ranks have written down their last calls")));
  expect_dumps({0, 1, 2}, "timeout");
}

TEST_F(DumpsTest, OfOtherShapes) {
  EXPECT_THAT(launch_odd("shape", 1).run(), AllOf(ExitsWith(69), Says("the ranks' calls do not match"),
                                                  Says("all_reduce of float32 [9000] in module odd.module"),
                                                  Says("all_reduce of float32 [8] in module odd.module")));
  EXPECT_EQ(dumps().ranks(), Ranks({0, 1, 2}));
}

TEST_F(DumpsTest, OfOtherDtypes) {
  EXPECT_THAT(launch_odd("dtype", 0).run(),
              AllOf(ExitsWith(69), Says("the ranks' calls do not match"), Says("all_reduce of float64 [8]"),
                    Says("all_reduce of float32 [8]")));
  EXPECT_EQ(dumps().ranks(), Ranks({0, 1, 2}));
}

TEST_F(DumpsTest, OfAnotherOrder) {
  EXPECT_THAT(launch_odd("order", 2).run(), AllOf(ExitsWith(69), Says("the ranks' calls do not match"),
                                                  Says("broadcast of float32 [8] in module odd.module"),
                                                  Says("all_reduce of float32 [8] in module odd.module")));
  EXPECT_EQ(dumps().ranks(), Ranks({0, 1, 2}));
}

TEST_F(DumpsTest, OfACallOfOneRankAlone) {
  EXPECT_THAT(launch_odd("alone", 2).run(), AllOf(ExitsWith(69), Says("the ranks' calls do not match")));
  EXPECT_EQ(dumps().ranks(), Ranks({0, 1, 2}));
}

TEST_F(DumpsTest, OfAllWhereOneHasNoMemory) {
  const test::ReservedPort reserved;
  const int port = reserved.port();
  Process first = by_hand(0, 2, port, run()).start();
  Process second = by_hand(1, 2, port, run({"--debug.memory_limit_gib=0.00005"})).start();
  EXPECT_THAT(second.wait(), AllOf(ExitsWith(71), Says("memory")));
  EXPECT_THAT(first.wait(), AllOf(ExitsWith(69), Says("rank 1 failed: ")));
  expect_dumps({0, 1}, "error");
}

TEST_F(DumpsTest, OfARankThatThrows) {
  EXPECT_THAT(launch_with("throw", 2, "end:2", false).run(), AllOf(ExitsWith(70), Says("rank 2 says: ")));
  expect_dumps({0, 1, 2}, "error");
  EXPECT_THAT(dumps().reason(0), HasSubstr("mischief threw"));
}

TEST_F(DumpsTest, OnRequestAndTrainingGoesOn) {
  Process launcher = launch(2, run()).start();
  ASSERT_TRUE(wait_for_step(2));
  launcher.signal(SIGUSR2);
  ASSERT_TRUE(wait_until([&] { return dumps().ranks() == Ranks({0, 1}); }));
  expect_dumps({0, 1}, "request");
  const std::string rows = read(dump_folder() / "metrics.jsonl");
  ASSERT_TRUE(wait_until([&] { return read(dump_folder() / "metrics.jsonl").size() > rows.size() + 200; }));
  launcher.signal(SIGTERM);
  EXPECT_THAT(launcher.wait(), AllOf(ExitsWith(128 + SIGTERM), Says("passing on SIGUSR2"),
                                     Says("SIGUSR2: this rank is at step "), Says("comm_traces/rank_0")));
}

TEST_F(DumpsTest, OnRequestOfOneRankThatIsStuck) {
  Process process = Command(titan_program(), folder_)
                        .args(run())
                        .env("TITAN_MISCHIEF", "hang")
                        .env("TITAN_MISCHIEF_AT", "step:2")
                        .start();
  ASSERT_TRUE(wait_for_step(1));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  process.signal(SIGUSR2);
  ASSERT_TRUE(wait_until([&] { return dumps().ranks() == Ranks({0}); }));
  expect_dumps({0}, "request");
  process.signal(SIGKILL);
  EXPECT_THAT(process.wait(), AllOf(Says("SIGUSR2: this rank is at step "), Says("titan::mischief::act")));
}

TEST_F(DumpsTest, AtTheEndWhereAskedFor) {
  EXPECT_THAT(launch(2, run({"--training.steps=2", "--comm.dump_traces_at_exit", "--comm.trace_buf_size=5"})).run(),
              ExitsWith(0));
  expect_dumps({0, 1}, "exit");
  EXPECT_TRUE(dumps().open_calls(0).empty());
  EXPECT_TRUE(dumps().open_calls(1).empty());
}

TEST_F(DumpsTest, NotOfARunThatEndsWellOrIsStopped) {
  EXPECT_THAT(launch(2, run({"--training.steps=2"})).run(), AllOf(ExitsWith(0), Not(Says("comm_traces"))));
  std::filesystem::remove_all(dump_folder());
  Process launcher = launch(2, run()).start();
  ASSERT_TRUE(wait_for_step(2));
  launcher.signal(SIGTERM);
  EXPECT_THAT(launcher.wait(), AllOf(ExitsWith(128 + SIGTERM), Not(Says("written down"))));
  EXPECT_EQ(dumps().ranks(), Ranks());
}

/// In its own time: how long it takes until all have left, over many trials.
class KillTrials : public DumpsTest {};

TEST_F(KillTrials, EachEndsWithTheDumpsOfTheSurvivors) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTrials = 100;
  std::vector<double> seconds;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::filesystem::remove_all(dump_folder());
    Process launcher = launch(3, run()).start();
    ASSERT_TRUE(wait_for_step(2));
    const int rank = trial % 3;
    const pid_t victim = pid_of_rank(launcher.pid(), rank);
    std::this_thread::sleep_for(std::chrono::milliseconds(trial * 7 % 100));
    const auto begin = Clock::now();
    ::kill(victim, SIGKILL);
    const std::string name = "rank " + std::to_string(rank);
    EXPECT_THAT(launcher.wait(), AllOf(ExitsWith(137), Says(name + " failed first"), Says("missing " + name))) << trial;
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    Ranks survivors = {0, 1, 2};
    survivors.erase(rank);
    expect_dumps(survivors, "error");
  }
  std::sort(seconds.begin(), seconds.end());
  std::cout << "seconds until all had left: median " << seconds[seconds.size() / 2] << ", worst " << seconds.back()
            << '\n';
  RecordProperty("worst", std::to_string(seconds.back()));
}

}  // namespace
}  // namespace titan::cli
