#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/distributed/process_runs.hpp"
#include "tests/support/ports.hpp"

namespace titan::cli {
namespace {

/// Two ranks that a person starts, each with a command line of its own.
class ProcessAgreement : public ProcessRunsTest {
 protected:
  Command rank_command(int rank, std::initializer_list<std::string> words) const {
    Command command = tiny_run(words);
    return command.env("RANK", std::to_string(rank))
        .env("WORLD_SIZE", "2")
        .env("MASTER_ADDR", "127.0.0.1")
        .env("MASTER_PORT", std::to_string(reserved_.port()));
  }
  Process start(int rank, std::initializer_list<std::string> words) const { return rank_command(rank, words).start(); }
  bool wait_for(const std::filesystem::path& file, const std::string& text) const {
    for (int tenths = 0; tenths < 1200; ++tenths) {
      if (read(file).find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }

  test::ReservedPort reserved_;
};

TEST_F(ProcessAgreement, RanksOfDifferentLayoutsAndOptionsRefuseEachOther) {
  Process first = start(0, {"--parallelism.data_parallel_shard_degree", "2", "--debug.seed", "1"});
  Process second = start(1, {"--parallelism.data_parallel_replicate_degree", "2", "--debug.seed", "2"});
  for (const Outcome& outcome : {first.wait(), second.wait()}) {
    EXPECT_THAT(outcome, ExitsWith(78));
    EXPECT_THAT(outcome, Says("parallelism.data_parallel_replicate_degree: 1 on rank 0; 2 on rank 1"));
    EXPECT_THAT(outcome, Says("debug.seed: 1 on rank 0; 2 on rank 1"));
  }
}

TEST_F(ProcessAgreement, RanksWithOtherPluginsOfTheSameNameRefuseEachOther) {
  const std::filesystem::path other = folder_.write("observability.so", read(TITAN_OBSERVABILITY_PLUGIN) + "rebuilt");
  Process first = start(0, {});
  Process second = start(1, {"--plugin", other.string()});
  for (const Outcome& outcome : {first.wait(), second.wait()}) {
    EXPECT_THAT(outcome, ExitsWith(78));
    EXPECT_THAT(outcome,
                testing::AllOf(Says("plugin observability: observability "), Says(" on rank 0"), Says(" on rank 1")));
  }
}

// Both orders are sound, so that nothing but a comparison of the files keeps the ranks from each other's gradients.
TEST_F(ProcessAgreement, RanksWithOtherOrdersInFilesOfTheSameNameRefuseEachOther) {
  const char* orders[] = {"0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n", "0F0,0F1,0B1,0B0\n1F0,1F1,1B1,1B0\n"};
  const auto start_in_folder = [&](int rank) {
    const std::filesystem::path file = folder_.write("rank" + std::to_string(rank) + "/order.csv", orders[rank]);
    return rank_command(rank, {"--parallelism.pipeline_parallel_degree", "2", "--parallelism.num_pp_microbatches", "2",
                               "--model.n_layers", "4", "--parallelism.pipeline_parallel_schedule_csv", "order.csv"})
        .in(file.parent_path())
        .start();
  };
  Process first = start_in_folder(0), second = start_in_folder(1);
  for (const Outcome& outcome : {first.wait(), second.wait()}) {
    EXPECT_THAT(outcome, ExitsWith(78));
    EXPECT_THAT(outcome, Says("pipeline schedule: CSV "));
  }
}

TEST_F(ProcessAgreement, AStopOfOneRankEndsBothAtTheSameStep) {
  Process first = start(0, {"--training.steps", "100000", "--metrics.log_freq", "1"});
  Process second = start(1, {"--training.steps", "100000", "--metrics.log_freq", "1"});
  ASSERT_TRUE(wait_for(dump_folder() / "metrics.jsonl", "\"step\": 3"));
  second.signal(SIGTERM);
  const Outcome ends[] = {first.wait(), second.wait()};
  for (const Outcome& outcome : ends) EXPECT_THAT(outcome, ExitsWith(128 + SIGTERM));
  const auto last_step = [](const Outcome& outcome) {
    const std::size_t begin = outcome.err.find("ended early: last step ");
    return outcome.err.substr(begin, outcome.err.find('\n', begin) - begin);
  };
  EXPECT_EQ(last_step(ends[0]), last_step(ends[1]));
}

}  // namespace
}  // namespace titan::cli
