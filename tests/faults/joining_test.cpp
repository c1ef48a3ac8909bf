// Ranks that do not fit together, do not come, or come late; ports that are others'.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/faults/ranks.hpp"
#include "tests/support/ports.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::AnyOf;

class JoiningTest : public RanksTest {
 protected:
  /// Ranks by hand, each with its RANK and WORLD_SIZE, meeting at one port.
  std::vector<Outcome> run_by_hand(const std::vector<std::pair<std::string, std::string>>& places,
                                   std::initializer_list<std::string> words = {}) {
    const test::ReservedPort reserved;
    const int port = reserved.port();
    std::vector<Process> processes;
    for (const auto& [rank, size] : places) {
      processes.push_back(by_hand(0, 1, port, run(words)).env("RANK", rank).env("WORLD_SIZE", size).start());
    }
    std::vector<Outcome> outcomes;
    for (Process& process : processes) outcomes.push_back(process.wait());
    return outcomes;
  }
};

TEST_F(JoiningTest, ARankThatNeverComes) {
  for (const Outcome& outcome : run_by_hand({{"0", "3"}, {"1", "3"}}, {"--comm.init_timeout_seconds=10"})) {
    EXPECT_THAT(outcome, AllOf(ExitsWith(69), Says("waiting for ranks 2")));
  }
}

TEST_F(JoiningTest, RankZeroNeverComes) {
  for (const Outcome& outcome : run_by_hand({{"1", "2"}}, {"--comm.init_timeout_seconds=5"})) {
    EXPECT_THAT(outcome, AllOf(ExitsWith(69), Says("waiting for ranks 0")));
  }
}

TEST_F(JoiningTest, ARankThatComesLate) {
  const test::ReservedPort reserved;
  const int port = reserved.port();
  const std::vector<std::string> words = run({"--training.steps=2"});
  Process second = by_hand(1, 2, port, words).start();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_THAT(by_hand(0, 2, port, words).run(), ExitsWith(0));
  EXPECT_THAT(second.wait(), ExitsWith(0));
}

TEST_F(JoiningTest, ARankThatDiesBeforeItJoins) {
  const Outcome outcome = launch(3, run({"--comm.init_timeout_seconds=10"}))
                              .env("TITAN_MISCHIEF", "kill")
                              .env("TITAN_MISCHIEF_AT", "init")
                              .env("TITAN_MISCHIEF_RANK", "2")
                              .run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(137), Says("rank 2 failed first"), Says("waiting for ranks 2")));
}

TEST_F(JoiningTest, TwoProcessesOfOneRank) {
  for (const Outcome& outcome : run_by_hand({{"0", "3"}, {"1", "3"}, {"1", "3"}}, {"--comm.init_timeout_seconds=20"})) {
    EXPECT_THAT(outcome, AllOf(ExitsWith(78), Says("RANK")));
  }
}

TEST_F(JoiningTest, WorldSizesThatDiffer) {
  for (const Outcome& outcome : run_by_hand({{"0", "2"}, {"1", "3"}}, {"--comm.init_timeout_seconds=20"})) {
    EXPECT_THAT(outcome, AllOf(ExitsWith(78), Says("WORLD_SIZE")));
  }
}

TEST_F(JoiningTest, PlacesThatDoNotExist) {
  const std::vector<std::pair<std::string, std::string>> places = {
      {"2", "2"}, {"-1", "2"}, {"x", "2"}, {"", "2"}, {"0", "0"}, {"0", "1e3"}, {"0", "99999999999999999999"}};
  for (const auto& place : places) {
    for (const Outcome& outcome : run_by_hand({place})) {
      EXPECT_THAT(outcome, AllOf(ExitsWith(78), AnyOf(Says("RANK"), Says("WORLD_SIZE"))));
    }
  }
}

TEST_F(JoiningTest, APortThatIsTaken) {
  const test::Listener other;
  Process second = by_hand(1, 2, other.port(), run({"--comm.init_timeout_seconds=5"})).start();
  EXPECT_THAT(by_hand(0, 2, other.port(), run({"--comm.init_timeout_seconds=5"})).run(),
              AllOf(ExitsWith(69), Says("address is in use")));
  EXPECT_THAT(second.wait(), ExitsWith(69));
}

/// Connects to the port, says something foreign and leaves, or stays when `stays`.
class Stranger {
 public:
  Stranger(int port, std::string_view bytes) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(port));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0 &&
                    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  bool is_connected() const { return is_connected_; }

 private:
  int socket_;
  bool is_connected_ = false;
};

TEST_F(JoiningTest, ForeignBytesAtTheStoresPort) {
  Process launcher = launch(2, run({"--training.steps=20"})).start();
  const pid_t rank = pid_of_rank(launcher.pid(), 0);
  ASSERT_NE(rank, 0);
  const int port = std::stoi(variable_of(rank, "MASTER_PORT").value_or("0"));
  using namespace std::string_view_literals;
  // The last is a length of a gibibyte where a text of the protocol begins.
  const Stranger http(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const Stranger noise(port, "\xff\xfe\x00\x01garbage\n"sv);
  const Stranger long_text(port, "\x01\x00\x00\x00\x40\x00\x00\x00\x00"sv);
  EXPECT_TRUE(http.is_connected() && noise.is_connected() && long_text.is_connected());
  EXPECT_TRUE(wait_for_step(1));
  const Stranger late(port, "late");
  EXPECT_THAT(launcher.wait(), ExitsWith(0));
}

}  // namespace
}  // namespace titan::cli
