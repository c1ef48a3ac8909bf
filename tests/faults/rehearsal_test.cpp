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

class RehearsedOrder : public RehearsedFaults {
 protected:
  /// A pipeline of two ranks, in the order of a CSV text.
  Outcome rehearse_order(const char* csv) const {
    folder_.write("order.csv", csv);
    return titan({"rehearse", "--world-size", "2", "--parallelism.pipeline_parallel_degree", "2",
                  "--parallelism.num_pp_microbatches", "2", "--parallelism.pipeline_parallel_schedule_csv",
                  "order.csv"})
        .args(tiny_model())
        .args({"--model.n_layers", "2"})
        .run();
  }
};

TEST_F(RehearsedOrder, RanksThatCallTheSameAreNotComplainedOf) { EXPECT_THAT(rehearse("even"), ExitsWith(0)); }

TEST_F(RehearsedOrder, APipelineThatLocksUpIsNamed) {
  const Outcome outcome = rehearse_order(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("rank 0 waits in 0SEND_F1 for rank 1, rank 1 waits in 1SEND_B0 for rank 0"));
}

TEST_F(RehearsedOrder, AScheduleWithoutAReceiveIsNamed) {
  const Outcome outcome = rehearse_order(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
      "1RECV_F0,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n");
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("rank 1: 1RECV_F1 from rank 0 is missing, 1F1 needs it"));
}

TEST_F(RehearsedOrder, StagesThatLoseALayerAreNamed) {
  const Outcome outcome = titan({"rehearse", "--world-size", "4", "--parallelism.pipeline_parallel_degree", "4",
                                 "--parallelism.num_pp_microbatches", "4", "--parallelism.module_fqns_per_model_part",
                                 "tok_embeddings layers.0,layers.1,layers.2,layers.3 norm output"})
                              .args(tiny_model())
                              .args({"--model.n_layers", "5"})
                              .run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("norm on stage 3, next is layers.4"));
}

struct Seeded {
  const char* fault;  // of one rank, see seeded_calls
  const char* rank;   // which does it
  const char* says;
  const char* says_too;
};

class SeededCalls : public TrainTest, public testing::WithParamInterface<Seeded> {
 protected:
  Outcome rehearse(const char* fault, const char* rank, std::initializer_list<std::string> args) const {
    return titan({"rehearse", "--world-size", "4"})
        .args(tiny_model())
        .args({"--model.n_layers", "2", "--plugin", TITAN_FAULT_PLUGINS "/seeded_calls.so", "--seeded.fault", fault,
               "--seeded.rank", rank})
        .args(args)
        .run();
  }
};

TEST_P(SeededCalls, AreNamedWithBothRanksModulesAndCalls) {
  const Outcome outcome = rehearse(GetParam().fault, GetParam().rank, {"--all-ranks"});
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says(GetParam().says));
  EXPECT_THAT(outcome, Says(GetParam().says_too));
}

INSTANTIATE_TEST_SUITE_P(
    Calls, SeededCalls,
    testing::Values(Seeded{"skipped_gather", "1", "rank 0 calls _allgather_base of Float [8], for layers.1.attention; ",
                           "rank 1 calls _allgather_base of BFloat16 ["},
                    Seeded{"wrong_dtype", "2", "rank 0 calls _allgather_base of Float [8], for layers.1.attention; ",
                           "rank 2 calls _allgather_base of Double [8], for layers.1.attention"},
                    Seeded{"missing_receive", "1", "rank 0 calls send of Float [4], for layers.1.attention; ",
                           "rank 1 does not receive it"}),
    [](const auto& seeded) { return std::string(seeded.param.fault); });

using UnseededCalls = SeededCalls;

TEST_F(UnseededCalls, AreNotComplainedOf) { EXPECT_THAT(rehearse("none", "1", {"--all-ranks"}), ExitsWith(0)); }

}  // namespace
}  // namespace titan::cli
