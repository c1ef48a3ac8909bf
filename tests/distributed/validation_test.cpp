// What a layout's validator measures is what one rank's does, on every rank.
#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/threads/rank_threads.hpp"
#include "core/train/run.hpp"
#include "tests/distributed/parity.hpp"
#include "tests/distributed/rank_plugins.hpp"

namespace titan::testing {
namespace {

using config::Degrees;

/// Steps of two micro-batches, which go through a pipeline together. Validation has five batches: no whole number of
/// groups.
RankRuns run_of(const Degrees& degrees, const std::string& preset = "llama3_parity",
                const Tolerance& tolerance = kDouble) {
  RankRuns runs = parity_run(degrees, tolerance, 2, preset);
  const std::string group = degrees[0] > 1 ? "2" : "1";
  runs.settings.insert(
      runs.settings.end(),
      {{"parallelism.num_pp_microbatches", group}, {"validator.enable", "true"}, {"validator.steps", "5"}});
  return runs;
}

/// What the validator of every rank measures after a step.
std::vector<train::ValidationResult> validations(const RankRuns& runs) {
  const config::Config config = configuration(runs);
  const config::Mesh mesh = config::Mesh::from(config, num_ranks(runs));
  std::vector<train::ValidationResult> found(static_cast<std::size_t>(mesh.world_size()));
  std::mutex mutex;
  comm::run_rank_threads(mesh, [&](comm::Communicator& communicator) {
    std::optional<RankPlugins> plugins;
    {
      const std::scoped_lock lock(mutex);
      plugins.emplace(config, communicator.rank(), communicator.size());
    }
    const EngineRun engine_run = plugins->run(communicator);
    train::Run run(engine_run);
    run.trainer().step();
    found[static_cast<std::size_t>(communicator.rank())] = run.validator()->run();
    EXPECT_TRUE(run.trainer().step()) << "training goes on after it";
  });
  return found;
}

void expect_validation(const RankRuns& runs, const train::ValidationResult& one) {
  for (const train::ValidationResult& mine : validations(runs)) {
    EXPECT_EQ(mine.num_tokens, one.num_tokens);
    EXPECT_LT(relative_difference(mine.loss, one.loss), 1e-9) << "every rank has it";
  }
}

const train::ValidationResult& one_ranks() {
  static const train::ValidationResult one = validations(run_of(kOneRank)).front();
  return one;
}

TEST(Validation, IsOneRanksUnderEachSchedule) {
  for (const char* schedule : {"1F1B", "GPipe", "Interleaved1F1B"}) {
    RankRuns runs = run_of({2, 1, 1, 1, 1});
    runs.settings.push_back({"parallelism.pipeline_parallel_schedule", schedule});
    expect_validation(runs, one_ranks());
  }
}

TEST(Validation, IsTheSameWithoutLogits) {
  for (const Degrees& degrees : {kOneRank, Degrees{1, 1, 2, 1, 1}, Degrees{2, 1, 1, 1, 1}}) {
    for (const train::ValidationResult& mine : validations(run_of(degrees, "llama3_parity", kSingle))) {
      EXPECT_EQ(mine.num_tokens, one_ranks().num_tokens);
      EXPECT_LT(relative_difference(mine.loss, one_ranks().loss), 1e-5) << "fp64 has logits";
    }
  }
}

TEST(Validation, IsOneRanksWithTensorParallelism) { expect_validation(run_of({1, 1, 1, 1, 2}), one_ranks()); }

TEST(Validation, IsOneRanksWithContextParallelism) { expect_validation(run_of({1, 1, 1, 2, 1}), one_ranks()); }

TEST(Validation, IsOneRanksWithStagesContextsAndTensorsTogether) {
  expect_validation(run_of({2, 1, 1, 2, 2}), one_ranks());
}

TEST(Validation, IsOneRanksWhereExpertsAreSpread) {
  const std::string mixture = "qwen3_parity_moe";
  RankRuns runs = run_of({1, 1, 2, 1, 1}, mixture);
  runs.expert_degree = 2;
  expect_validation(runs, validations(run_of(kOneRank, mixture)).front());
}

}  // namespace
}  // namespace titan::testing
