#include "tests/cli/runner/titan.hpp"
#include "tests/support/ports.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;

/// `titan launch`: what it refuses before there is a rank.
class LaunchTest : public CliTest {
 protected:
  /// `titan launch FLAGS... -- WORDS... ` of a tiny run.
  Command launch(std::initializer_list<std::string> flags, std::initializer_list<std::string> words = {}) const {
    return titan({"launch"}).args(flags).args({"--"}).args(tiny_model()).args(words);
  }

  void expect_no_rank() const {
    EXPECT_FALSE(std::filesystem::exists(dump_folder() / "logs/rank_0.log")) << "a rank was started";
  }
};

TEST_F(LaunchTest, HelpListsItsFlags) {
  const Outcome outcome = titan({"launch", "--help"}).run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(0), Prints("usage: titan launch [flags] -- [train] RUN..."),
                             Prints("--nproc-per-node N"), Prints("rank = node")));
}

TEST_F(LaunchTest, TheRunsWordsComeAfterDashes) {
  EXPECT_THAT(titan({"launch", "--nproc-per-node", "2", "--module", "llama3"}).run(),
              AllOf(ExitsWith(64), Says("--module: unknown option"), Says("comes after --")));
  EXPECT_THAT(titan({"launch", "train"}).run(), AllOf(ExitsWith(64), Says("unexpected argument")));
}

TEST_F(LaunchTest, OnlyTraining) {
  EXPECT_THAT(titan({"launch", "--", "config"}).run(), AllOf(ExitsWith(64), Says("only the verb train")));
  EXPECT_THAT(titan({"launch", "--", "launch", "--", "train"}).run(), ExitsWith(64));
  EXPECT_THAT(titan({"launch", "--", "tran"}).run(), AllOf(ExitsWith(64), Says("did you mean train?")));
}

TEST_F(LaunchTest, ARunWithoutAModel) {
  EXPECT_THAT(titan({"launch", "--nproc-per-node=2", "--"}).run(), AllOf(ExitsWith(64), Says("--module")));
}

TEST_F(LaunchTest, WrongOptionsOfTheRunAreRefusedOnce) {
  EXPECT_THAT(launch({"--nproc-per-node=2"}, {"--trainin.steps", "3"}).run(),
              AllOf(ExitsWith(64), Says("did you mean --training.steps?")));
  const Outcome outcome = launch({"--nproc-per-node=2"}, {"--training.steps=zero"}).run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(78), Says("--training.steps: ")));
  EXPECT_EQ(outcome.err.find("[rank"), std::string::npos) << outcome.text();
  expect_no_rank();
}

TEST_F(LaunchTest, ALayoutThatDoesNotFitIsRefusedWithItsArithmetic) {
  EXPECT_THAT(launch({"--nproc-per-node=4"}, {"--parallelism.data_parallel_shard_degree=3"}).run(),
              AllOf(ExitsWith(78), Says("pp 1 x dp_replicate 1 x dp_shard 3 x cp 1 x tp 1, world size 4")));
  EXPECT_THAT(launch({"--nproc-per-node=2", "--nnodes=2", "--node-rank=1", "--rdzv-endpoint=127.0.0.1:1"},
                     {"--parallelism.data_parallel_replicate_degree=3"})
                  .run(),
              AllOf(ExitsWith(78), Says("world size 4")));
  expect_no_rank();
}

TEST_F(LaunchTest, ADumpFolderThatCannotBeMade) {
  folder_.write("file", "");
  EXPECT_THAT(launch({"--nproc-per-node=2"}, {"--dump_folder", "file"}).run(), AllOf(ExitsWith(73), Says("file")));
  EXPECT_THAT(launch({"--log-dir", "file/logs"}).run(), AllOf(ExitsWith(73), Says("file/logs")));
}

TEST_F(LaunchTest, ADumpFolderThatOthersMayWriteTo) {
  const std::filesystem::path shared = folder_ / "shared";
  std::filesystem::create_directory(shared);
  if (::chown(shared.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "needs root: a folder of another user";
  std::filesystem::permissions(shared, std::filesystem::perms::all);
  EXPECT_THAT(launch({"--nproc-per-node=2"}, {"--dump_folder", shared}).run(), AllOf(ExitsWith(77), Says("shared")));
  EXPECT_TRUE(std::filesystem::is_empty(shared));
}

TEST_F(LaunchTest, RanksThatDoNotExistCannotBeShown) {
  EXPECT_THAT(launch({"--nproc-per-node=2"}).env("LOG_RANK", "2").run(), AllOf(ExitsWith(78), Says("from 0 to 1")));
  EXPECT_THAT(launch({"--nproc-per-node=2", "--local-ranks-filter=2"}).run(),
              AllOf(ExitsWith(64), Says("from 0 to 1")));
}

TEST_F(LaunchTest, APortInUse) {
  const test::Listener other;
  const std::string port = std::to_string(other.port());
  EXPECT_THAT(launch({"--nproc-per-node=2", "--master-port", port}).run(),
              AllOf(ExitsWith(69), Says("address in use: 127.0.0.1:" + port)));
  expect_no_rank();
}

TEST_F(LaunchTest, TheRanksHelpIsPrintedOnce) {
  const Outcome outcome = titan({"launch", "--nproc-per-node", "2", "--", "--help=comm.train_timeout"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("comm.train_timeout_seconds"));
}

TEST_F(LaunchTest, AStepThatTheRanksCannotShare) {
  const Outcome outcome = titan({"launch", "--nproc-per-node", "3", "--", "--module=llama3",
                                 "--config=llama3_debugmodel", "--training.num_tokens_per_train_step=65536"})
                              .run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("16384 x 3"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "outputs"));
}

}  // namespace
}  // namespace titan::cli
