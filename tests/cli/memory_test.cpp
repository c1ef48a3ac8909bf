#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "tests/cli/runner/titan.hpp"
#include "tests/support/memory_snapshot.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;

class MemoryTest : public TrainTest {
 protected:
  fs::path snapshots() const { return dump_folder() / "profiling" / "memory_snapshot"; }
  std::set<std::string> folders() const {
    std::set<std::string> names;
    if (!fs::exists(snapshots())) return names;
    for (const auto& entry : fs::directory_iterator(snapshots())) names.insert(entry.path().filename());
    return names;
  }
  /// A run of two layers with snapshots.
  Command snapshot_run(std::initializer_list<std::string> args) const {
    return tiny_run({"--profiler.enable_memory_snapshot", "--model.n_layers=2"}).args(args);
  }
  static std::map<std::string, std::int64_t> bytes_by_kind(const pickle::Document& snapshot) {
    std::map<std::string, std::int64_t> bytes;
    const pickle::Value segments = *snapshot.root().field("segments");
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const pickle::Value blocks = *segments.item(i).field("blocks");
      for (std::size_t j = 0; j < blocks.size(); ++j) {
        const auto titan = blocks.item(j).field("titan");
        if (titan) bytes[std::string(*titan->field("kind")->text())] += *blocks.item(j).field("size")->integer();
      }
    }
    return bytes;
  }
  /// Modules of the trace's events in a phase.
  static std::set<std::string> modules_in(const pickle::Document& snapshot, std::string_view phase) {
    std::set<std::string> modules;
    const pickle::Value trace = snapshot.root().field("device_traces")->item(0);
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const pickle::Value frames = *trace.item(i).field("frames");
      if (frames.item(1).field("name")->text() == phase) modules.emplace(*frames.item(0).field("filename")->text());
    }
    return modules;
  }
};

TEST_F(MemoryTest, WritesASnapshotEverySoManySteps) {
  const Outcome outcome = snapshot_run({"--training.steps=7", "--profiler.memory_snapshot_freq=3"}).run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(folders(), testing::ElementsAre("step_000000000003", "step_000000000006"));
  EXPECT_THAT(outcome, Says("snapshot of step 3: "));
  for (const std::string& folder : folders()) {
    const pickle::Document snapshot = test::checked_snapshot(snapshots() / folder / "rank0_memory_snapshot.pickle");
    const auto bytes = bytes_by_kind(snapshot);
    for (const char* kind : {"parameter", "gradient", "optimizer_state"}) EXPECT_TRUE(bytes.contains(kind)) << kind;
    EXPECT_THAT(modules_in(snapshot, "forward"),
                testing::IsSupersetOf({"layers.0.attention.wq", "layers.1.feed_forward.w2"}));
    EXPECT_THAT(modules_in(snapshot, "backward"),
                testing::IsSupersetOf({"layers.0.attention.wq", "layers.1.feed_forward.w2"}));
    EXPECT_EQ(*snapshot.root().field("titan")->field("dropped_events")->integer(), 0);
  }
}

TEST_F(MemoryTest, ARingThatIsTooShortSaysWhatIsMissing) {
  ASSERT_THAT(snapshot_run({"--profiler.memory_snapshot_freq=3", "--profiler.memory_snapshot_max_entries=50",
                            "--profiler.save_memory_snapshot_folder=elsewhere"})
                  .run(),
              ExitsWith(0));
  const pickle::Document snapshot =
      test::checked_snapshot(dump_folder() / "elsewhere" / "step_000000000003" / "rank0_memory_snapshot.pickle");
  EXPECT_LE(snapshot.root().field("device_traces")->item(0).size(), 50U);
  EXPECT_GT(*snapshot.root().field("titan")->field("dropped_events")->integer(), 1000);
  EXPECT_GT(bytes_by_kind(snapshot).at("parameter"), 0);
}

TEST_F(MemoryTest, ASnapshotThatCannotBeWrittenIsTriedAgainAtTheNext) {
  fs::create_directories(dump_folder());
  std::ofstream(dump_folder() / "blocked") << "a file";
  const Outcome outcome = snapshot_run({"--training.steps=4", "--profiler.memory_snapshot_freq=2",
                                        "--profiler.save_memory_snapshot_folder=blocked"})
                              .run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("[memory] the snapshot of step 2 is lost: "));
  EXPECT_THAT(outcome, Says("[memory] the snapshot of step 4 is lost: "));
}

TEST_F(MemoryTest, FunctionsOfCppAreShownWhereAskedFor) {
  ASSERT_THAT(
      snapshot_run({"--profiler.memory_snapshot_freq=1", "--profiler.memory_snapshot_stacks=cpp", "--training.steps=1"})
          .run(),
      ExitsWith(0));
  const fs::path path = snapshots() / "step_000000000001" / "rank0_memory_snapshot.pickle";
  test::checked_snapshot(path);
  EXPECT_THAT(read(path), testing::HasSubstr("at::_ops::"));
}

TEST_F(MemoryTest, RefusesWrongOptions) {
  for (const char* value : {"0", "-1", "often", "1.5"}) {
    const Outcome outcome = snapshot_run({"--profiler.memory_snapshot_freq", value}).run();
    EXPECT_THAT(outcome, ExitsWith(78)) << value;
    EXPECT_THAT(outcome, Says("profiler.memory_snapshot_freq"));
    EXPECT_THAT(snapshot_run({"--profiler.memory_snapshot_max_entries", value}).run(), ExitsWith(78)) << value;
  }
  EXPECT_THAT(snapshot_run({"--profiler.memory_snapshot_stacks=python"}).run(), ExitsWith(78));
  for (const char* value : {"0", "-1", "much", "nan"}) {
    EXPECT_THAT(tiny_run({"--debug.memory_limit_gib", value}).run(), ExitsWith(78)) << value;
  }
}

TEST_F(MemoryTest, SwitchedOffNothingIsWritten) {
  ASSERT_THAT(snapshot_run({"--profiler.memory_snapshot_freq=1", "--profiler.no_enable_memory_snapshot"}).run(),
              ExitsWith(0));
  EXPECT_THAT(folders(), testing::IsEmpty());
}

struct Phase {
  const char* name;
  int step;
  std::vector<std::string> args;
};
void PrintTo(const Phase& phase, std::ostream* out) { *out << phase.name; }

class OutOfMemory : public MemoryTest, public testing::WithParamInterface<Phase> {
 protected:
  void SetUp() override {
    MemoryTest::SetUp();
    if (IsSkipped() || name() != "load") return;
    ASSERT_THAT(
        tiny_run({"--model.n_layers=2", "--checkpoint.enable", "--checkpoint.last_save_model_only=false"}).run(),
        ExitsWith(0));
  }
  static std::string name() { return GetParam().name; }
  /// What takes all memory when the phase begins.
  std::vector<std::string> doom(std::initializer_list<std::string> more) const {
    std::vector<std::string> args = tiny_model();
    args.insert(args.end(), {"--model.n_layers=2", "--debug.memory_limit_gib=0.1", "--plugin", test_plugin("hoarder"),
                             "--hoarder.phase", name(), "--hoarder.step", std::to_string(GetParam().step)});
    args.insert(args.end(), GetParam().args.begin(), GetParam().args.end());
    args.insert(args.end(), more);
    return args;
  }
  /// The snapshot of the end.
  pickle::Document snapshot(const std::string& rank) const {
    const std::string folder = std::string("step_00000000000") + std::to_string(GetParam().step) + "_exit";
    EXPECT_THAT(folders(), testing::ElementsAre(folder));
    return test::checked_snapshot(snapshots() / folder / ("rank" + rank + "_memory_snapshot.pickle"));
  }
  static void expect_shortage(const pickle::Document& snapshot) {
    EXPECT_EQ(snapshot.root().field("titan")->field("phase")->text(), name());
    const pickle::Value trace = snapshot.root().field("device_traces")->item(0);
    ASSERT_GT(trace.size(), 0U);
    EXPECT_EQ(trace.item(trace.size() - 1).field("action")->text(), "oom") << "nothing was unwound before";
  }
};

TEST_P(OutOfMemory, IsReportedAndShownWhereverItHappens) {
  const Outcome outcome = titan({}).args(doom({"--profiler.enable_memory_snapshot"})).run();
  EXPECT_THAT(outcome, ExitsWith(71)) << name();
  EXPECT_THAT(outcome.err, testing::HasSubstr("out of memory on rank 0: "));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("asked for .*" + name() + "\\)"));
  EXPECT_THAT(outcome.err, testing::HasSubstr("by kind: parameter "));
  EXPECT_THAT(outcome.err, testing::HasSubstr("the largest live blocks:"));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("ERROR - .*out of memory: requested [0-9]+ bytes in .*" + name()));
  EXPECT_THAT(outcome.err, testing::Not(testing::HasSubstr("training completed")));
  expect_shortage(snapshot("0"));
}

TEST_P(OutOfMemory, IsReportedWithoutSnapshotsToo) {
  const Outcome outcome = titan({}).args(doom({})).run();
  EXPECT_THAT(outcome, ExitsWith(71)) << name();
  EXPECT_THAT(outcome.err, testing::HasSubstr("out of memory on rank 0: "));
  EXPECT_THAT(outcome.err, testing::HasSubstr("--profiler.enable_memory_snapshot"));
  EXPECT_THAT(folders(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Phases, OutOfMemory,
    testing::Values(Phase{"init", 0, {}}, Phase{"load", 0, {"--checkpoint.enable", "--training.steps=9"}},
                    Phase{"forward", 2, {}}, Phase{"backward", 2, {}},
                    Phase{"optimizer", 1, {"--optimizer.implementation=for-loop"}},
                    Phase{"validation", 1, {"--validator.enable", "--validator.freq=1", "--validator.steps=1"}},
                    Phase{"save", 1, {"--checkpoint.enable", "--checkpoint.interval=1"}}),
    [](const auto& param) { return param.param.name; });

class OutOfMemoryOfRanks : public OutOfMemory {};

TEST_P(OutOfMemoryOfRanks, EachRankHasItsFile) {
  const Outcome outcome =
      titan({"launch", "--nproc-per-node", "2", "--"}).args(doom({"--profiler.enable_memory_snapshot"})).run();
  EXPECT_THAT(outcome, ExitsWith(71)) << name();
  EXPECT_THAT(outcome.err, testing::HasSubstr("out of memory"));
  expect_shortage(snapshot("0"));
}

INSTANTIATE_TEST_SUITE_P(Phases, OutOfMemoryOfRanks, testing::Values(Phase{"build", 0, {}}, Phase{"backward", 2, {}}),
                         [](const auto& param) { return param.param.name; });

TEST_F(MemoryTest, ALimitEndsTheRunWhereItIsPassed) {
  const Outcome outcome = snapshot_run({"--debug.memory_limit_gib=0.001"}).run();
  EXPECT_THAT(outcome, ExitsWith(71));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("limit: 1[.]0 MiB \\(--debug.memory_limit_gib\\)"));
}

TEST_F(MemoryTest, ALimitThatIsPassedInACallOfRanksIsNoLossOfAConnection) {
  // What a reduce-scatter takes on the thread of the connection is asked for above all else.
  for (const char* limit : {"0.052", "0.054", "0.058"}) {
    const Outcome outcome =
        titan({"launch", "--nproc-per-node", "2", "--", "train", "--module", "llama3", "--config", "llama3_debugmodel"})
            .args({"--training.num_tokens_per_microbatch_per_dp_rank=256", "--training.max_context_length=128",
                   "--training.num_threads=1", "--training.steps=2", "--debug.memory_limit_gib", limit,
                   "--comm.cpu_backend=gloo"})
            .args({"--dump_folder", dump_folder(), "--hf_assets_path", source("tests/assets/tokenizer"),
                   "--dataloader.dataset_path", source("tests/assets/corpus")})
            .run();
    EXPECT_THAT(outcome, ExitsWith(71)) << limit;
    EXPECT_THAT(outcome.err, testing::HasSubstr("by kind: parameter "));
    EXPECT_THAT(outcome.err, testing::Not(testing::HasSubstr("connection was lost")));
  }
}

TEST_F(MemoryTest, WhatTheSystemDoesNotGiveIsReportedToo) {
  // One micro-batch wants some 5 GiB.
  const Outcome outcome =
      snapshot_run({"--training.num_tokens_per_microbatch_per_dp_rank=1048576", "--dataloader.num_prefetch_batches=0"})
          .address_space(std::uint64_t{3} << 30U)
          .run();
  EXPECT_THAT(outcome, ExitsWith(71));
  EXPECT_THAT(outcome.err, testing::HasSubstr("out of memory on rank 0: "));
  EXPECT_THAT(outcome.err, testing::HasSubstr("limit: none set"));
  ASSERT_THAT(folders(), testing::ElementsAre("step_000000000001_exit"));
  test::checked_snapshot(snapshots() / "step_000000000001_exit" / "rank0_memory_snapshot.pickle");
}

class SuggestionTest : public MemoryTest {
 protected:
  /// A run that wants about 30 MiB.
  Command large_run(std::initializer_list<std::string> args) const {
    return tiny_run({"--model.n_layers=4", "--model.dim=64", "--training.steps=2",
                     "--training.num_tokens_per_microbatch_per_dp_rank=2048"})
        .args(args);
  }
  /// The options that a line of the report has, where it begins so.
  static std::vector<std::string> suggested(const Outcome& outcome, const std::string& option) {
    std::smatch found;
    const std::regex line("  (" + option + ") ([0-9a-z.]+)");
    if (!std::regex_search(outcome.err, found, line)) return {};
    return {found[1], found[2]};
  }
};

TEST_F(SuggestionTest, WhatIsSaidToFitDoesFit) {
  const std::string limit = "--debug.memory_limit_gib=0.03";
  const Outcome outcome = large_run({limit}).run();
  ASSERT_THAT(outcome, ExitsWith(71));
  const auto larger = suggested(outcome, "--debug.memory_limit_gib");
  ASSERT_FALSE(larger.empty()) << outcome.err;
  EXPECT_THAT(large_run({}).args(larger).run(), ExitsWith(0)) << larger[1];
  for (const char* option : {"--training.num_tokens_per_microbatch_per_dp_rank", "--activation_checkpoint.mode"}) {
    const auto change = suggested(outcome, option);
    ASSERT_FALSE(change.empty()) << option << outcome.err;
    EXPECT_THAT(large_run({limit}).args(change).run(), ExitsWith(0)) << option << " " << change[1];
  }
}

}  // namespace
}  // namespace titan::cli
