// The program's pages, pictures and traces in a Chromium, where one is installed. No network is used.
#include "tests/cli/runner/titan.hpp"
#include "tests/peers/program_in_path.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kLimit = 400;  // seconds

fs::path chromium_in_path() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
    if (const fs::path found = test::program_in_path(name); !found.empty()) return found;
  }
  return {};
}

/// The small programs that drive the browser.
template <class Test>
class InBrowser : public Test {
 protected:
  void SetUp() override {
    Test::SetUp();
    if (this->IsSkipped()) return;
    python_ = test::program_in_path("python3");
    chromium_ = chromium_in_path();
    if (python_.empty()) GTEST_SKIP() << "no python3 in PATH";
    if (chromium_.empty()) GTEST_SKIP() << "no chromium in PATH";
  }

  Outcome look(const char* script, std::initializer_list<std::string> args) {
    return Command(python_, this->folder_)
        .args({"-B", TITAN_SOURCE_FOLDER "/tests/peers/" + std::string(script), chromium_.string()})
        .args(args)
        .limit(kLimit)
        .run();
  }

  fs::path python_, chromium_;
};

/// Pages of runs whose files are written here.
class BrowserTest : public InBrowser<CliTest> {
 protected:
  static std::string step_row(int step, double seconds) {
    const std::string part = std::to_string(seconds / 4);
    return R"({"kind":"step","step":)" + std::to_string(step) + R"(,"loss":)" + std::to_string(10.0 / step) +
           R"(,"grad_norm":)" + std::to_string(1e6 / step) + R"(,"lr":)" + std::to_string(3e-4 / step) +
           R"(,"step_seconds":)" + std::to_string(seconds) + R"(,"data_seconds":)" + part + R"(,"forward_seconds":)" +
           part + R"(,"backward_seconds":)" + part + R"(,"optimizer_seconds":)" + part +
           R"(,"peak_memory_bytes":85899345920})"
           "\n";
  }
  static std::string span_row(const std::string& name, int step, double begin, int micro_batch, int stage) {
    return R"({"kind":"span","name":")" + name + R"(","begin":)" + std::to_string(1780000000 + begin) +
           R"(,"seconds":0.01,"step":)" + std::to_string(step) + R"(,"micro_batch":)" + std::to_string(micro_batch) +
           R"(,"stage":)" + std::to_string(stage) + "}\n";
  }
  static std::string collective_row(int group, int step, double begin) {
    return R"({"kind":"collective","op":"all_reduce","group":"group )" + std::to_string(group) +
           R"( of many ranks","module":"layers.0","sequence":4,"bytes":64,"begin":)" +
           std::to_string(1780000000 + begin) + R"(,"seconds":0.002,"step":)" + std::to_string(step) +
           R"(,"state":"completed"})"
           "\n";
  }
  /// A rank with two stages of a pipeline and many groups.
  static std::string rank_rows(int rank, int num_ranks, int num_steps) {
    std::string rows = R"({"kind":"run","rank":)" + std::to_string(rank) + R"(,"world_size":)" +
                       std::to_string(num_ranks) + R"(,"begin":1780000000,"steps":1000000,"titan":"0.1.0"})" + "\n";
    for (int step = 1; step <= num_steps; ++step) rows += step_row(step * 50, 0.7);
    for (int i = 0; i < 32; ++i) {
      const double begin = 0.03 * i + 0.001 * rank;
      rows += span_row(i % 2 == 0 ? "forward" : "backward", num_steps * 50, begin, i / 2, 2 * rank + i % 4 / 2);
      rows += collective_row(i % 12, num_steps * 50, begin);
    }
    return rows;
  }
};

TEST_F(BrowserTest, ALongRunOfManyRanksIsLegible) {
  constexpr int kRanks = 16, kSteps = 2000;
  std::string metrics;
  for (int step = 1; step <= kSteps; ++step) {
    metrics += R"({"step":)" + std::to_string(step * 50) + R"(,"loss":2.5,"tps":)" + std::to_string(51000 + step) +
               R"(,"tokens":123456789012,"mfu":41.5,"peak_memory_bytes":85899345920,"elapsed_s":123456})" + "\n";
  }
  folder_.write("run/metrics.jsonl", metrics);
  for (int rank = 0; rank < kRanks; ++rank) {
    folder_.write("run/spans/rank_" + std::to_string(rank) + ".jsonl", rank_rows(rank, kRanks, kSteps));
  }
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  const Outcome outcome = look("browser_report.py", {"run/report.html", "9"});
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("Step 100000 across ranks"));
}

TEST_F(BrowserTest, ARunWithoutStepsHasAPage) {
  folder_.write("run/config.toml", "[training]\nsteps = 2\n");
  folder_.write("run/errors/rank_0.json",
                R"({"code":66,"message":"no such file","rank":0,"host":"h","pid":1,"time":1780000004,"moment":1,)"
                R"("phase":"while starting"})");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(look("browser_report.py", {"run/report.html", "0"}), ExitsWith(0));
}

/// What runs leave.
class BrowserRunTest : public InBrowser<TrainTest> {};

TEST_F(BrowserRunTest, ARunWithValidationCheckpointsATraceAndSnapshots) {
  ASSERT_THAT(tiny_run({"--validator.enable", "--validator.freq=2", "--validator.steps=1", "--checkpoint.enable",
                        "--checkpoint.interval=2", "--profiler.enable_profiling", "--profiler.profile_freq=2",
                        "--profiler.profiler_warmup=0", "--profiler.enable_memory_snapshot",
                        "--profiler.memory_snapshot_freq=2", "--training.steps=4"})
                  .run(),
              ExitsWith(0));
  ASSERT_THAT(titan({"report", "outputs"}).run(), ExitsWith(0));
  const Outcome page = look("browser_report.py", {"outputs/report.html"});
  EXPECT_THAT(page, ExitsWith(0));
  EXPECT_THAT(page, Prints("Files"));
  const Outcome trace = look("browser_trace.py", {"outputs/profiling/traces/step_000000000004/rank0_trace.json.gz"});
  EXPECT_THAT(trace, ExitsWith(0));
  EXPECT_THAT(trace, Prints(" X"));
  const std::string snapshot = "outputs/profiling/memory_snapshot/step_000000000004/rank0_memory_snapshot.pickle";
  ASSERT_THAT(titan({"trace", "memory", snapshot, "--svg", "memory.svg"}).run(), ExitsWith(0));
  EXPECT_THAT(look("browser_report.py", {"memory.svg", "1"}), ExitsWith(0));
}

TEST_F(BrowserRunTest, TracesAndThePageOfTwoRanks) {
  std::vector<std::string> args{"launch", "--nproc-per-node", "2", "--"};
  for (const std::string& word : tiny_model()) args.push_back(word);
  for (const char* word : {"--profiler.enable_profiling", "--profiler.profile_freq=2", "--profiler.profiler_warmup=0",
                           "--profiler.profiler_active=2", "--training.steps=2"}) {
    args.push_back(word);
  }
  ASSERT_THAT(titan({}).args(args).run(), ExitsWith(0));
  for (const char* rank : {"0", "1"}) {
    EXPECT_THAT(look("browser_trace.py",
                     {"outputs/profiling/traces/step_000000000002/rank" + std::string(rank) + "_trace.json.gz"}),
                ExitsWith(0));
  }
  ASSERT_THAT(titan({"report", "outputs"}).run(), ExitsWith(0));
  EXPECT_THAT(look("browser_report.py", {"outputs/report.html", "8"}), ExitsWith(0));
}

TEST_F(BrowserRunTest, ARunThatFailed) {
  ASSERT_THAT(tiny_run({"--debug.memory_limit_gib=0.002"}).run(), ExitsWith(71));
  ASSERT_THAT(titan({"report", "outputs"}).run(), ExitsWith(0));
  EXPECT_THAT(look("browser_report.py", {"outputs/report.html"}), ExitsWith(0));
}

TEST_F(BrowserRunTest, AScheduleOfAPipeline) {
  ASSERT_THAT(titan({"schedule", "--module", "llama3", "--config", "llama3_debugmodel", "--pp", "4", "--micro-batches",
                     "8", "--svg", "order.svg"})
                  .run(),
              ExitsWith(0));
  EXPECT_THAT(look("browser_report.py", {"order.svg", "1"}), ExitsWith(0));
}

}  // namespace
}  // namespace titan::cli
