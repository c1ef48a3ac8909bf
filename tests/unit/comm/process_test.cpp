// Ranks as processes, over each backend. This program does not link libtorch: it only starts comm_process_rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "tests/support/ports.hpp"
#include "tests/unit/comm/process_job.hpp"

namespace titan::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kPeerLost = 69, kConfig = 78, kData = 65;
constexpr const char* kLong = "60000";

/// What one rank of a job is told beside its rank.
struct Start {
  std::string action = "check";
  int culprit = 0;
  std::string init_timeout = kLong, timeout = kLong;
  std::string backend = {};  // empty: the test's
};

/// A job whose store listens on a port that nobody else can have taken.
class Processes : public ::testing::TestWithParam<const char*> {
 protected:
  std::map<std::string, std::string> variables(int rank, int world_size) const {
    return {{"RANK", std::to_string(rank)},  {"WORLD_SIZE", std::to_string(world_size)},
            {"MASTER_ADDR", "127.0.0.1"},    {"MASTER_PORT", std::to_string(socket_.port())},
            {"TORCHELASTIC_RUN_ID", "test"}, {"OMP_NUM_THREADS", "1"}};
  }
  std::size_t start(int rank, int world_size, const Start& what) {
    return job_.start({what.action, std::to_string(what.culprit), what.init_timeout, what.timeout,
                       what.backend.empty() ? GetParam() : what.backend},
                      variables(rank, world_size), rank == 0 ? socket_.descriptor() : -1);
  }
  void start_all(int world_size, const Start& what) {
    for (int rank = 0; rank < world_size; ++rank) start(rank, world_size, what);
  }

  /// Two ranks that are there and do nothing until go_on().
  void pause() {
    start_all(2, {.action = "pause"});
    for (const std::size_t rank : {0, 1}) ASSERT_TRUE(job_.await_output(rank, "connected"));
  }
  /// Lets them do their work, which they do well.
  void go_on() {
    for (const std::size_t rank : {0, 1}) ::kill(job_.pid(rank), SIGUSR1);
    for (const std::size_t rank : {0, 1}) EXPECT_EQ(job_.wait(rank), 0) << job_.output(rank);
  }

  /// Listens and has no owner yet, for TITAN_STORE_FD.
  test::Listener socket_;
  ProcessJob job_;
};

INSTANTIATE_TEST_SUITE_P(Backend, Processes, ::testing::Values("shm", "gloo"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Processes, AllCollectivesGiveRightResultsAndRecords) {
  for (const int num_ranks : {1, 2, 3, 4}) {
    const std::size_t first = job_.size();
    test::Listener socket;
    for (int rank = 0; rank < num_ranks; ++rank) {
      auto own = variables(rank, num_ranks);
      own["MASTER_PORT"] = std::to_string(socket.port());
      job_.start({"check", "0", kLong, kLong, GetParam()}, own, rank == 0 ? socket.descriptor() : -1);
    }
    for (std::size_t process = first; process < job_.size(); ++process) {
      EXPECT_EQ(job_.wait(process), 0) << num_ranks << " ranks: " << job_.output(process);
    }
  }
}

TEST_P(Processes, AKilledRankIsNamedAtOnce) {
  start_all(3, {.action = "die", .culprit = 2});
  EXPECT_EQ(job_.wait(2), 128 + SIGKILL);
  for (const std::size_t rank : {0, 1}) {
    EXPECT_EQ(job_.wait(rank, seconds(40)), kPeerLost);
    EXPECT_THAT(job_.output(rank), AllOf(HasSubstr("all_reduce, sequence 4, group world (ranks 0-2), module layers.3"),
                                         HasSubstr("missing rank 2"), ContainsRegex("elapsed [0-9.]+ s")));
  }
}

TEST_P(Processes, AKilledRankThatServesTheStoreIsNamedToo) {
  start_all(3, {.action = "die", .culprit = 0});
  EXPECT_EQ(job_.wait(0), 128 + SIGKILL);
  for (const std::size_t rank : {1, 2}) {
    EXPECT_EQ(job_.wait(rank, seconds(40)), kPeerLost);
    EXPECT_THAT(job_.output(rank), AllOf(HasSubstr("all_reduce, sequence 4"), HasSubstr("missing rank 0")));
  }
}

TEST_P(Processes, ARankThatIsKilledWithinACallIsNamed) {
  start_all(3, {.action = "die_within", .culprit = 1});
  EXPECT_EQ(job_.wait(1), 128 + SIGKILL);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(job_.wait(rank, seconds(40)), kPeerLost);
    EXPECT_THAT(job_.output(rank), AllOf(HasSubstr("all_reduce, sequence "), HasSubstr("missing rank 1")));
  }
}

TEST_P(Processes, ARankThatIsStoppedWithinACallIsNamed) {
  start_all(3, {.action = "stop_within", .culprit = 1, .timeout = "3000"});
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(job_.wait(rank, seconds(40)), kPeerLost);
    EXPECT_THAT(job_.output(rank), AllOf(HasSubstr("limit 3.0 s"), HasSubstr("no answer from rank 1")));
  }
}

TEST_P(Processes, AStoppedRankIsNamedAfterTheDeadline) {
  start_all(3, {.action = "stop", .culprit = 1, .timeout = "3000"});
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(job_.wait(rank), kPeerLost);
    EXPECT_THAT(job_.output(rank), AllOf(HasSubstr("all_reduce, sequence 4"), HasSubstr("limit 3.0 s"),
                                         HasSubstr("no answer from rank 1: stopped or dead")));
  }
}

TEST_P(Processes, ARankThatIsBusyElsewhereIsNamedWithItsLastCall) {
  start_all(3, {.action = "sleep", .culprit = 1, .timeout = "3000"});
  EXPECT_EQ(job_.wait(0), kPeerLost);
  EXPECT_THAT(job_.output(0),
              AllOf(HasSubstr("missing rank 1, all_reduce, sequence 4"), HasSubstr("limit 3.0 s"),
                    ContainsRegex("\n  rank 1 runs .*titan::comm::misbehave.*; last call in this group: all_reduce of "
                                  "float32 .4., sequence 3"),
                    Not(HasSubstr("no answer"))));
}

TEST_P(Processes, AnotherCallIsNamedOnBothSides) {
  start_all(3, {.action = "other", .culprit = 1, .timeout = "3000"});
  for (const std::size_t rank : {0, 1, 2}) EXPECT_EQ(job_.wait(rank), kPeerLost);
  EXPECT_THAT(job_.output(2), AllOf(HasSubstr("calls do not match"), HasSubstr("rank 1 calls barrier"),
                                    HasSubstr("calls all_reduce of float32 [4] in module layers.3")));
}

// Half a minute of waiting in all, with a limit of two seconds.
TEST_P(Processes, AnotherShapeIsNamedOnBothSides) {
  start_all(3, {.action = "shape", .culprit = 1, .timeout = "3000"});
  for (const std::size_t rank : {0, 1, 2}) EXPECT_EQ(job_.wait(rank), kPeerLost) << job_.output(rank);
  EXPECT_THAT(job_.output(0) + job_.output(2),
              AllOf(HasSubstr("calls do not match"), HasSubstr("rank 1 calls all_reduce of float32 [9000]"),
                    HasSubstr("calls all_reduce of float32 [4] in module layers.3")));
}

TEST_P(Processes, NobodysDeadlinePassesWhileARankHoldsThem) {
  start_all(3, {.action = "hold", .culprit = 1, .timeout = "2000"});
  for (const std::size_t rank : {0, 1, 2}) EXPECT_EQ(job_.wait(rank, seconds(120)), 0) << job_.output(rank);
}

TEST_P(Processes, AHolderThatDiesHoldsNobody) {
  start_all(3, {.action = "hold_and_die", .culprit = 1, .timeout = "2000"});
  EXPECT_EQ(job_.wait(1), 128 + SIGKILL);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(job_.wait(rank, seconds(60)), kPeerLost);
    EXPECT_THAT(job_.output(rank), HasSubstr("missing rank 1"));
  }
}

TEST_P(Processes, PeersQuoteTheErrorOfTheRankThatFailed) {
  start_all(3, {.action = "throw", .culprit = 1});
  EXPECT_EQ(job_.wait(1), kData);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(job_.wait(rank, seconds(40)), kPeerLost);
    EXPECT_THAT(job_.output(rank), HasSubstr("rank 1 failed: [data] row 7 is broken"));
  }
}

TEST_P(Processes, TheServingRanksErrorIsQuotedToo) {
  start_all(3, {.action = "throw", .culprit = 0});
  EXPECT_EQ(job_.wait(0), kData);
  for (const std::size_t rank : {1, 2}) {
    EXPECT_EQ(job_.wait(rank, seconds(40)), kPeerLost);
    EXPECT_THAT(job_.output(rank), HasSubstr("rank 0 failed: [data] row 7 is broken"));
  }
}

TEST_P(Processes, ARankThatLeavesEarlyIsNoticedAtOnce) {
  start_all(3, {.action = "leave", .culprit = 1});
  EXPECT_EQ(job_.wait(1), 0);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(job_.wait(rank, seconds(40)), kPeerLost);
    EXPECT_THAT(job_.output(rank), HasSubstr("rank 1 has left the run"));
  }
}

TEST_P(Processes, RanksThatDoNotJoinAreNamed) {
  for (const int rank : {0, 1}) start(rank, 4, {.init_timeout = "3000"});
  for (const std::size_t process : {0, 1}) {
    EXPECT_EQ(job_.wait(process), kPeerLost);
    EXPECT_THAT(job_.output(process), AllOf(HasSubstr("waiting for ranks 2, 3"), HasSubstr("init_timeout_seconds")));
  }
}

TEST_P(Processes, NobodyServesTheStore) {
  // Nobody listens at the port: it answers with a refusal.
  const test::ReservedPort closed;
  auto elsewhere = variables(1, 2);
  elsewhere["MASTER_PORT"] = std::to_string(closed.port());
  job_.start({"check", "0", "2000", kLong, GetParam()}, elsewhere);
  EXPECT_EQ(job_.wait(0), kPeerLost);
  EXPECT_THAT(job_.output(0), AllOf(HasSubstr("waiting for ranks 0"), HasSubstr("MASTER_ADDR 127.0.0.1"),
                                    HasSubstr(elsewhere["MASTER_PORT"])));
}

TEST_P(Processes, AnUnknownMasterIsNamed) {
  auto nowhere = variables(1, 2);
  nowhere["MASTER_ADDR"] = "no-such-host.invalid";
  job_.start({"check", "0", "1000", kLong, GetParam()}, nowhere);
  EXPECT_EQ(job_.wait(0), kPeerLost);
  EXPECT_THAT(job_.output(0), HasSubstr("MASTER_ADDR cannot be looked up: no-such-host.invalid"));
}

TEST_P(Processes, TwoProcessesThatClaimOneRankStopAll) {
  for (const int rank : {0, 1, 1}) start(rank, 3, {});
  for (const std::size_t process : {0, 1, 2}) {
    EXPECT_EQ(job_.wait(process), kConfig);
    EXPECT_THAT(job_.output(process), HasSubstr("two processes claim one rank: RANK 1"));
  }
}

TEST_P(Processes, DifferentNumbersOfRanksStopAll) {
  start(0, 3, {});
  start(1, 3, {});
  start(2, 4, {});
  for (const std::size_t process : {0, 1, 2}) {
    EXPECT_EQ(job_.wait(process), kConfig);
    EXPECT_THAT(job_.output(process),
                AllOf(HasSubstr("different numbers of ranks"), HasSubstr("WORLD_SIZE 3"), HasSubstr("WORLD_SIZE 4")));
  }
}

TEST_P(Processes, AllTakeTheBackendThatOneMustTake) {
  for (const int rank : {0, 1, 2}) start(rank, 3, {.backend = rank == 1 ? "gloo" : "auto, but meets gloo"});
  for (const std::size_t rank : {0, 1, 2}) EXPECT_EQ(job_.wait(rank), 0) << job_.output(rank);
}

TEST_P(Processes, ABackendThatCannotBeHadIsRefused) {
  for (const int rank : {0, 1, 2}) start(rank, 3, {.backend = rank == 1 ? "gloo" : "shm"});
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(job_.wait(rank), kConfig) << job_.output(rank);
    EXPECT_THAT(job_.output(rank), AllOf(HasSubstr("comm.cpu_backend shm needs ranks that can share memory"),
                                         HasSubstr("rank 1: its comm.cpu_backend is gloo")));
  }
}

TEST_P(Processes, MeetInTheStoreOfALauncher) {
  const std::size_t launcher =
      job_.start({"serve", "0", kLong, kLong, GetParam()}, variables(0, 2), socket_.descriptor());
  // A second start meets in the same store.
  for (int restart = 0; restart < 2; ++restart) {
    for (int rank = 0; rank < 2; ++rank) {
      auto own = variables(rank, 2);
      own["TORCHELASTIC_USE_AGENT_STORE"] = "True";
      own["TORCHELASTIC_RESTART_COUNT"] = std::to_string(restart);
      const std::size_t process = job_.start({"check", "0", kLong, kLong, GetParam()}, own);
      EXPECT_EQ(process, launcher + 1 + static_cast<std::size_t>(2 * restart + rank));
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
      const std::size_t process = launcher + 1 + static_cast<std::size_t>(2 * restart) + rank;
      EXPECT_EQ(job_.wait(process), 0) << job_.output(process);
    }
  }
}

TEST_P(Processes, ALateDuplicateDoesNotHarmTheRun) {
  ASSERT_NO_FATAL_FAILURE(pause());
  start(1, 2, {});
  EXPECT_EQ(job_.wait(2), kConfig);
  go_on();
}

/// Started by hand: rank 0 binds the port itself.
class ByHand : public Processes {
 protected:
  std::size_t start_by_hand(int rank, int world_size, int port) {
    auto own = variables(rank, world_size);
    own.erase("TORCHELASTIC_RUN_ID");
    own["MASTER_PORT"] = std::to_string(port);
    return job_.start({"check", "0", kLong, kLong, GetParam()}, own);
  }
};

INSTANTIATE_TEST_SUITE_P(Backend, ByHand, ::testing::Values("shm", "gloo"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(ByHand, RanksMeetAtTheNamedPortOfTheLoopbackInterface) {
  const test::ReservedPort reserved;
  for (const int rank : {0, 1}) start_by_hand(rank, 2, reserved.port());
  for (const std::size_t process : {0, 1}) EXPECT_EQ(job_.wait(process), 0) << job_.output(process);
}

TEST_P(ByHand, APortInUseStopsAllRanksSoon) {
  // The socket listens and never answers.
  for (const int rank : {0, 1, 2}) start_by_hand(rank, 3, socket_.port());
  for (const std::size_t process : {0, 1, 2}) {
    EXPECT_EQ(job_.wait(process, seconds(30)), kPeerLost);
    EXPECT_THAT(job_.output(process), AllOf(HasSubstr("address is in use"), HasSubstr(std::to_string(socket_.port()))));
  }
}

/// Bytes that people and scanners send to ports that are not theirs.
std::vector<std::string> foreign_bytes() {
  const std::string magic("\x00\xCE\xF7\x85\x3C", 5);                 // the store's own greeting
  const std::string huge("\x01\x00\x00\x00\x40\x00\x00\x00\x00", 9);  // then a key of 1 GiB
  return {"GET / HTTP/1.1\r\nHost: example\r\n\r\n",
          std::string(4096, '\xff'),
          std::string("\x00\x00\x00\x40", 4),
          std::string("\x00\x00\x00\x40\x00\x00\x00\x00", 8),
          magic + huge,
          std::string(1 << 20, 'A'),
          ""};
}

TEST_P(Processes, ForeignBytesOnTheirPortsDoNoHarm) {
  for (const std::string& bytes : foreign_bytes()) send_bytes(socket_.port(), bytes, milliseconds(0));
  ASSERT_NO_FATAL_FAILURE(pause());
  std::vector<std::thread> clients;
  const auto attack = [&](int port) {
    for (const std::string& bytes : foreign_bytes()) {
      clients.emplace_back([port, bytes] { send_bytes(port, bytes, milliseconds(500)); });
    }
  };
  attack(socket_.port());
  std::size_t num_ports = 0;
  for (const std::size_t rank : {0, 1}) {
    for (const Listener& listener : listeners(job_.pid(rank))) {
      attack(listener.port);
      ++num_ports;
    }
  }
  const bool listens = std::string(GetParam()) == "gloo";
  EXPECT_GE(num_ports, listens ? 3u : 1u) << "the store's port and, over gloo, one of each rank";
  for (std::thread& client : clients) client.join();
  const std::int64_t memory = peak_memory(job_.pid(0));
  go_on();
  EXPECT_LT(memory, std::int64_t{1} << 30);
}

TEST_P(Processes, OnlyTheLoopbackInterfaceIsListenedOn) {
  ASSERT_NO_FATAL_FAILURE(pause());
  for (const std::size_t rank : {0, 1}) {
    for (const Listener& listener : listeners(job_.pid(rank))) EXPECT_EQ(listener.address, "0100007F");
  }
  go_on();
}

}  // namespace
}  // namespace titan::testing
