// Memory snapshots that the viewer of PyTorch shows.
#include "tests/cli/runner/titan.hpp"
#include "tests/peers/program_in_path.hpp"

namespace titan::cli {
namespace {

class MemoryVizTest : public TrainTest {
 protected:
  void SetUp() override {
    TrainTest::SetUp();
    python_ = test::program_in_path("python3");
    if (python_.empty()) GTEST_SKIP() << "no python3 in PATH";
    const Outcome found = Command(python_, folder_).args({"-c", "import torch.cuda._memory_viz"}).limit(300).run();
    if (found.status != 0) GTEST_SKIP() << "python3 in PATH has no PyTorch";
  }

  Outcome show(const std::string& folder) {
    const std::filesystem::path file =
        dump_folder() / "profiling" / "memory_snapshot" / folder / "rank0_memory_snapshot.pickle";
    return Command(python_, folder_)
        .args({"-W", "ignore", TITAN_SOURCE_FOLDER "/tests/peers/memory_viz_peer.py", file.string()})
        .limit(300)
        .run();
  }
  Outcome record(std::initializer_list<std::string> args) const {
    return tiny_run({"--profiler.enable_memory_snapshot", "--profiler.memory_snapshot_freq=2"}).args(args).run();
  }

  std::filesystem::path python_;
};

TEST_F(MemoryVizTest, ReadsASnapshotOfAStep) {
  ASSERT_THAT(record({"--profiler.memory_snapshot_stacks=cpp"}), ExitsWith(0));
  const Outcome outcome = show("step_000000000002");
  EXPECT_THAT(outcome, ExitsWith(0)) << outcome.text();
  EXPECT_THAT(outcome.out, testing::HasSubstr("modules True"));
}

TEST_F(MemoryVizTest, ReadsOneWhoseRingWasTooShort) {
  ASSERT_THAT(record({"--profiler.memory_snapshot_max_entries=100"}), ExitsWith(0));
  EXPECT_THAT(show("step_000000000002"), ExitsWith(0));
}

TEST_F(MemoryVizTest, ReadsOneOfARunWithoutMemory) {
  ASSERT_THAT(record({"--debug.memory_limit_gib=0.001"}), ExitsWith(71));
  EXPECT_THAT(show("step_000000000000_exit"), ExitsWith(0));
}

}  // namespace
}  // namespace titan::cli
