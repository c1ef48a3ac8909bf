// Ranks that do not call the same are named by a rehearsal, before there is a rank.
#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

struct Fault {
  const char* call;  // of rank 2, see odd_caller
  const char* says;
};

class RehearsedFaults : public TrainTest, public testing::WithParamInterface<Fault> {
 protected:
  Outcome rehearse(const std::string& call) const {
    return titan({"rehearse", "--world-size", "4", "--all-ranks", "--rehearsed-steps", "3"})
        .args(tiny_model())
        .args({"--plugin", TITAN_FAULT_PLUGINS "/odd_caller.so"})
        .env("TITAN_ODD_RANK", "2")
        .env("TITAN_ODD_CALL", call)
        .run();
  }
};

TEST_P(RehearsedFaults, AreNamedWithBothRanks) {
  const Outcome outcome = rehearse(GetParam().call);
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("ranks do not make the same calls"));
  EXPECT_THAT(outcome, Says("rank 0 calls all_reduce of Float [8], for odd.module; "));
  EXPECT_THAT(outcome, Says(GetParam().says));
  EXPECT_THAT(outcome, Prints("calls that do not match:"));
}

INSTANTIATE_TEST_SUITE_P(OddCalls, RehearsedFaults,
                         testing::Values(Fault{"shape", "rank 2 calls all_reduce of Float [9000], for odd.module"},
                                         Fault{"dtype", "rank 2 calls all_reduce of Double [8], for odd.module"},
                                         Fault{"order", "rank 2 calls broadcast of Float [8], for odd.module"},
                                         Fault{"alone", "rank 2 calls broadcast of Float [8], for odd.module"}),
                         [](const auto& fault) { return std::string(fault.param.call); });

using RehearsedOrder = RehearsedFaults;

TEST_F(RehearsedOrder, RanksThatCallTheSameAreNotComplainedOf) { EXPECT_THAT(rehearse("even"), ExitsWith(0)); }

TEST_F(RehearsedOrder, APipelineThatLocksUpIsNamed) {
  folder_.write("order.csv",
                "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
  const Outcome outcome =
      titan({"rehearse", "--world-size", "2", "--parallelism.pipeline_parallel_degree", "2",
             "--parallelism.num_pp_microbatches", "2", "--parallelism.pipeline_parallel_schedule_csv", "order.csv"})
          .args(tiny_model())
          .args({"--model.n_layers", "2"})
          .run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("rank 0 waits in 0SEND_F1 for rank 1, rank 1 waits in 1SEND_B0 for rank 0"));
}

}  // namespace
}  // namespace titan::cli
