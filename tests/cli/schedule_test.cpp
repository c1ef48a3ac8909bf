#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

/// `titan schedule` of a model with six layers.
class ScheduleTest : public TrainTest {
 protected:
  Command schedule(std::initializer_list<std::string> args) const {
    return titan({"schedule", "--module", "llama3", "--config", "llama3_debugmodel"}).args(args);
  }
};

TEST_F(ScheduleTest, ShowsStagesAndTimeline) {
  const Outcome outcome = schedule({"--pp", "4", "--micro-batches", "8"}).run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("1F1B: 4 ranks, 4 stages, 8 micro-batches"));
  EXPECT_THAT(outcome, Prints("stage 0, rank 0: tok_embeddings, layers.0\n"));
  EXPECT_THAT(outcome, Prints("stage 3, rank 3: layers.5, norm, output\n"));
  EXPECT_THAT(outcome, Prints("rank 3  | .   .   .   3F0 3B0 3F1 3B1"));
  EXPECT_THAT(outcome, Prints("bubble share 27.3 % of 22 units, peak live micro-batches by rank: 4, 3, 2, 1\n"));
  EXPECT_THAT(outcome, Prints("forward only: bubble share 27.3 % of 11 units"));
}

TEST_F(ScheduleTest, TheRunsOptionsAreTheDefault) {
  const Outcome outcome = schedule({"--parallelism.pipeline_parallel_degree=2", "--parallelism.num_pp_microbatches=4",
                                    "--parallelism.pipeline_parallel_schedule=Interleaved1F1B"})
                              .run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("Interleaved1F1B: 2 ranks, 4 stages, 4 micro-batches"));
  EXPECT_THAT(outcome, Prints("stage 2, rank 0: "));
}

TEST_F(ScheduleTest, WritesAPictureAndAnOrderThatIsReadAgain) {
  const Outcome picture = schedule({"--pp", "2", "--micro-batches", "2", "--svg", "order.svg"}).run();
  ASSERT_THAT(picture, ExitsWith(0));
  EXPECT_EQ(read(folder_ / "order.svg").substr(0, 4), "<svg");
  const Outcome order = schedule({"--pp", "2", "--micro-batches", "2", "--csv"}).run();
  EXPECT_EQ(order.out, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  for (const char* form : {"--csv", "--csv=full"}) {
    folder_.write("order.csv", schedule({"--pp", "2", "--micro-batches", "2", form}).run().out);
    const Outcome again =
        schedule({"--pp", "2", "--micro-batches", "2", "--parallelism.pipeline_parallel_schedule_csv=order.csv"}).run();
    ASSERT_THAT(again, ExitsWith(0));
    EXPECT_THAT(again, Prints("CSV: 2 ranks, 2 stages, 2 micro-batches"));
    EXPECT_THAT(again, Prints("peak live micro-batches by rank: 2, 1"));
  }
}

TEST_F(ScheduleTest, APictureDoesNotReplaceWhatIsRead) {
  folder_.write("order.csv", "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  const Outcome outcome = schedule({"--pp", "2", "--micro-batches", "2", "--svg", "order.csv",
                                    "--parallelism.pipeline_parallel_schedule_csv=order.csv"})
                              .run();
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("not overwritten: order.csv: this command reads it"));
  EXPECT_EQ(read(folder_ / "order.csv").substr(0, 3), "0F0");
}

TEST_F(ScheduleTest, AnOrderThatLocksUpIsRefusedByName) {
  folder_.write("order.csv",
                "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n");
  const Outcome outcome =
      schedule({"--pp", "2", "--micro-batches", "2", "--parallelism.pipeline_parallel_schedule_csv=order.csv"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("rank 0 waits in 0SEND_F1 for rank 1, rank 1 waits in 1SEND_B0 for rank 0"));
}

TEST_F(ScheduleTest, LayoutsThatDoNotFitAreRefusedWithTheArithmetic) {
  const Outcome stages = schedule({"--pp", "9", "--micro-batches", "9"}).run();
  EXPECT_THAT(stages, ExitsWith(78));
  EXPECT_THAT(stages, Says("more stages than layers: 9 stages, layers 6 + embedding 1 + head 1 = 8"));
  const Outcome micro_batches = schedule({"--pp", "4", "--micro-batches", "3"}).run();
  EXPECT_THAT(micro_batches, ExitsWith(78));
  EXPECT_THAT(micro_batches, Says("parallelism.num_pp_microbatches 3, parallelism.pipeline_parallel_degree 4"));
  const Outcome zero_bubble = schedule({"--pp", "4", "--parallelism.pipeline_parallel_schedule=ZBVZeroBubble"}).run();
  EXPECT_THAT(zero_bubble, ExitsWith(78));
  EXPECT_THAT(zero_bubble, Says("1F1B, GPipe, Interleaved1F1B"));
}

TEST_F(ScheduleTest, FlagsThatMakeNoSenseAreRefused) {
  EXPECT_THAT(schedule({}).run(), ExitsWith(64)) << "one rank has no schedule";
  EXPECT_THAT(schedule({"--pp", "two"}).run(), ExitsWith(64));
  EXPECT_THAT(schedule({"--pp", "100000"}).run(), ExitsWith(64));
  EXPECT_THAT(schedule({"--pp", "2", "--micro-batches", "2", "--csv=half"}).run(), ExitsWith(64));
}

}  // namespace
}  // namespace titan::cli
