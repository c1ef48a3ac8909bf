// Dumps of our flight recorder that PyTorch's own analyser reads.
#include <gmock/gmock.h>

#include "tests/faults/ranks.hpp"
#include "tests/peers/program_in_path.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FrTraceTest : public RanksTest {
 protected:
  static constexpr const char* kAnalyser = "torch.distributed.flight_recorder.fr_trace";

  void SetUp() override {
    RanksTest::SetUp();
    if (IsSkipped()) return;
    python_ = test::program_in_path("python3");
    if (python_.empty()) GTEST_SKIP() << "no python3 in PATH";
    const Outcome found = Command(python_, folder_).args({"-c", std::string("import ") + kAnalyser}).limit(300).run();
    if (found.status != 0) GTEST_SKIP() << "python3 in PATH has no PyTorch with a flight recorder's analyser";
  }

  /// Everything that the analyser says.
  std::string analyse(std::initializer_list<std::string> flags = {}) const {
    const Outcome outcome = Command(python_, folder_)
                                .args({"-W", "ignore", "-m", kAnalyser, (dump_folder() / "comm_traces").string()})
                                .args(flags)
                                .limit(300)
                                .run();
    EXPECT_EQ(outcome.status, 0) << outcome.text();
    return outcome.out + outcome.err;
  }

  std::filesystem::path python_;
};

testing::Matcher<std::string> finds_nothing() {
  return AllOf(Not(HasSubstr("Not all ranks")), Not(HasSubstr("has errors")), Not(HasSubstr("mismatch")),
               Not(HasSubstr("cannot decide")));
}

TEST_F(FrTraceTest, FindsNothingInARunThatEndedWell) {
  ASSERT_THAT(launch(2, run({"--training.steps=3", "--comm.dump_traces_at_exit"})).run(), ExitsWith(0));
  EXPECT_THAT(analyse(), finds_nothing());
}

// Sends and receives between three ranks, in both directions.
TEST_F(FrTraceTest, FindsNothingInAPipelineThatEndedWell) {
  ASSERT_THAT(launch(3, run({"--training.steps=3", "--comm.dump_traces_at_exit", "--model.n_layers=6",
                             "--parallelism.pipeline_parallel_degree=3", "--parallelism.num_pp_microbatches=4",
                             "--training.num_tokens_per_train_step=512"}))
                  .run(),
              ExitsWith(0));
  EXPECT_THAT(analyse(), finds_nothing());
}

TEST_F(FrTraceTest, NamesTheRankThatDidNotCome) {
  ASSERT_THAT(launch(3, run({kShortTimeout}), {"--grace-seconds", "1"})
                  .env("TITAN_MISCHIEF", "hang")
                  .env("TITAN_MISCHIEF_AT", "end:2")
                  .env("TITAN_MISCHIEF_RANK", "1")
                  .run(),
              ExitsWith(69));
  EXPECT_THAT(analyse(), AllOf(HasSubstr("Not all ranks joining collective"), HasSubstr("missing ranks: {1}")));
}

TEST_F(FrTraceTest, ReadsWhatIsThereOfAKilledRanksPeers) {
  ASSERT_THAT(launch(3, run())
                  .env("TITAN_MISCHIEF", "kill")
                  .env("TITAN_MISCHIEF_AT", "end:2")
                  .env("TITAN_MISCHIEF_RANK", "1")
                  .run(),
              ExitsWith(137));
  EXPECT_THAT(analyse({"--allow-incomplete-ranks"}), HasSubstr("ranks ({1})"));
}

}  // namespace
}  // namespace titan::cli
