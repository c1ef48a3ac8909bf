// Processes that are killed at any moment, twice, and started again, do what they would have done in one go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

using Words = std::vector<std::string>;

constexpr int kSteps = 20;

struct Case {
  std::string name;
  int ranks = 1;
  const char* async_mode = "disabled";
  Words words = {};
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

class ProcessResume : public TrainTest, public ::testing::WithParamInterface<Case> {
 protected:
  Command command(const std::string& folder, const Words& more = {}) const {
    const Case& one = GetParam();
    Command made = titan({});
    if (one.ranks > 1) made.args({"launch", "--nproc-per-node", std::to_string(one.ranks), "--", "train"});
    made.args(tiny_model());
    made.args({"--dump_folder", (folder_ / folder).string(), "--training.steps", std::to_string(kSteps),
               "--training.num_tokens_per_train_step", "1024", "--validator.enable", "--validator.freq", "4",
               "--validator.steps", "2", "--metrics.log_freq", "1", "--debug.seed", "7"});
    return made.args(one.words).args(more).limit(300);
  }

  Words checkpoints() const {
    return {"--checkpoint.enable",     "--checkpoint.interval", "3", "--checkpoint.no_last_save_model_only",
            "--checkpoint.async_mode", GetParam().async_mode};
  }

  int steps_logged(const std::string& folder) const {
    const std::string rows = read(folder_ / folder / "metrics.jsonl");
    return static_cast<int>(std::ranges::count(rows, '\n'));
  }

  /// Starts the run and kills it once it has logged so many steps more, after a pause that leaves it anywhere.
  void run_and_kill(const std::string& folder, int steps, std::chrono::milliseconds pause) const {
    const int before = steps_logged(folder);
    Process process = command(folder, checkpoints()).start();
    while (process.is_running() && steps_logged(folder) < std::min(before + steps, kSteps - 1)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(pause);
    process.signal(SIGKILL);
    process.wait();
  }

  /// The rows of a metrics file without what depends on the clock and the memory.
  std::vector<nlohmann::json> rows_of(const std::string& folder, const char* file) const {
    std::vector<nlohmann::json> rows;
    std::istringstream lines(read(folder_ / folder / file));
    for (std::string line; std::getline(lines, line);) {
      nlohmann::json row = nlohmann::json::parse(line);
      for (const char* name : {"tps", "tflops", "mfu", "elapsed_s", "data_time_share", "peak_memory_bytes"}) {
        row.erase(name);
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }
};

TEST_P(ProcessResume, DoesWhatItWouldHaveDoneInOneGo) {
  ASSERT_THAT(command("whole", checkpoints()).run(), ExitsWith(0));
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> steps(1, 8), pause(0, 60);
  for (int kill = 0; kill < 2; ++kill) {
    const int more = steps(random), wait = pause(random);
    RecordProperty("kill_" + std::to_string(kill), std::to_string(more) + " steps, " + std::to_string(wait) + " ms");
    run_and_kill("cut", more, std::chrono::milliseconds(wait));
  }
  const bool has_step = std::filesystem::exists(folder_ / "cut/checkpoint/step-3");
  const Outcome last_run = command("cut", checkpoints()).run();
  ASSERT_THAT(last_run, ExitsWith(0));
  EXPECT_EQ(has_step, (last_run.out + last_run.err).find("- loaded ") != std::string::npos) << last_run.text();
  EXPECT_EQ(rows_of("cut", "metrics.jsonl"), rows_of("whole", "metrics.jsonl"));
  EXPECT_EQ(rows_of("cut", "validation.jsonl"), rows_of("whole", "validation.jsonl"));
  const auto last = [&](const char* folder) {
    return (folder_ / folder / "checkpoint" / ("step-" + std::to_string(kSteps))).string();
  };
  EXPECT_THAT(titan({"checkpoint", "diff", last("cut"), last("whole")}).run(), ExitsWith(0));
}

const Words kFsdp2{"--parallelism.data_parallel_shard_degree", "2"};
const Words kFsdp2Tp2{"--parallelism.data_parallel_shard_degree", "2", "--parallelism.tensor_parallel_degree", "2"};
const Words kPp2{"--parallelism.pipeline_parallel_degree", "2", "--parallelism.num_pp_microbatches", "2"};

INSTANTIATE_TEST_SUITE_P(Some, ProcessResume,
                         ::testing::Values(Case{"one", 1}, Case{"fsdp2_async", 2, "async", kFsdp2}),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(More, ProcessResume,
                         ::testing::Values(Case{"one_async", 1, "async"}, Case{"fsdp2", 2, "disabled", kFsdp2},
                                           Case{"fsdp2_tp2", 4, "disabled", kFsdp2Tp2},
                                           Case{"fsdp2_tp2_async", 4, "async", kFsdp2Tp2},
                                           Case{"pp2", 2, "disabled", kPp2}, Case{"pp2_async", 2, "async", kPp2}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace titan::cli
