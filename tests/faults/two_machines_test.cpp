// Two machines, each a network namespace of this one, joined by a virtual cable.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "tests/faults/ranks.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFirstAddress = "10.213.77.1";

std::filesystem::path ip_program() {
  for (const char* path : {"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

class TwoMachinesTest : public RanksTest {
 protected:
  void SetUp() override {
    RanksTest::SetUp();
    if (IsSkipped()) return;
    if (ip_program().empty()) GTEST_SKIP() << "no program ip (package iproute2)";
    for (const std::string& machine : machines_) {
      const Outcome outcome = ip({"netns", "add", machine}).run();
      if (outcome.status != 0) GTEST_SKIP() << "network namespaces cannot be made here: " << outcome.err;
    }
    const Outcome cable =
        ip({"link", "add", "eth", "netns", machines_[0], "type", "veth", "peer", "name", "eth", "netns", machines_[1]})
            .run();
    if (cable.status != 0) GTEST_SKIP() << "no virtual cable can be made here: " << cable.err;
    set_up(machines_[0], std::string(kFirstAddress) + "/30");
    set_up(machines_[1], "10.213.77.2/30");
  }

  ~TwoMachinesTest() override {
    if (ip_program().empty()) return;
    for (const std::string& machine : machines_) ip({"netns", "delete", machine}).run();
  }

  Command ip(std::initializer_list<std::string> words) const { return Command(ip_program(), folder_).args(words); }

  /// The launcher of one machine; two ranks on each.
  Command node(std::size_t number, std::initializer_list<std::string> words) const {
    return ip({"netns", "exec", machines_[number], titan_program(), "launch", "--nnodes", "2", "--nproc-per-node", "2",
               "--node-rank", std::to_string(number), "--rdzv-endpoint", std::string(kFirstAddress) + ":29500", "--"})
        .args(run(words));
  }

 private:
  void set_up(const std::string& machine, const std::string& address) {
    ASSERT_EQ(ip({"-n", machine, "address", "add", address, "dev", "eth"}).run().status, 0);
    for (const char* device : {"lo", "eth"}) {
      ASSERT_EQ(ip({"-n", machine, "link", "set", device, "up"}).run().status, 0);
    }
  }

  // Tests run side by side.
  std::vector<std::string> machines_ = {"titan-a-" + std::to_string(::getpid()),
                                        "titan-b-" + std::to_string(::getpid())};
};

// In truth they are one, whose processes could share memory.
TEST_F(TwoMachinesTest, TrainTogether) {
  const std::initializer_list<std::string> words = {"--training.steps=3", "--comm.cpu_backend=gloo"};
  Process second = node(1, words).env("LOG_RANK", "0,3").start();
  EXPECT_THAT(node(0, words).env("LOG_RANK", "0,3").run(),
              AllOf(ExitsWith(0), Says("[rank0]: "), Says("training completed: last step 3"), Not(Says("[rank1]: "))));
  EXPECT_THAT(second.wait(), AllOf(ExitsWith(0), Says("[rank3]: "), Not(Says("[rank2]: "))));
  for (const char* rank : {"rank_0.log", "rank_3.log", "rank_2.stderr.log"}) {
    EXPECT_TRUE(std::filesystem::exists(dump_folder() / "logs" / rank)) << rank;
  }
}

TEST_F(TwoMachinesTest, AFailureOnOneEndsBoth) {
  Process second = node(1, {"--comm.cpu_backend=gloo"})
                       .env("TITAN_MISCHIEF", "kill")
                       .env("TITAN_MISCHIEF_AT", "step:2")
                       .env("TITAN_MISCHIEF_RANK", "3")
                       .start();
  EXPECT_THAT(node(0, {"--comm.cpu_backend=gloo"}).run(), ExitsWith(69));
  EXPECT_THAT(second.wait(), AllOf(ExitsWith(137), Says("rank 3 failed first: it was killed by SIGKILL (9)")));
}

TEST_F(TwoMachinesTest, TheOtherMachineDoesNotCome) {
  EXPECT_THAT(node(0, {"--comm.init_timeout_seconds=10"}).run(), AllOf(ExitsWith(69), Says("waiting for ranks 2, 3")));
}

}  // namespace
}  // namespace titan::cli
