// The strategy of sdk/examples/plain_ddp, which knows nothing but the SDK, trains as one rank does.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "core/train/run.hpp"
#include "tests/distributed/rank_plugins.hpp"
#include "tests/distributed/rank_runs.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSteps = 3;

const void* engine_interface(titan_string id) {
  const std::string_view name(id.data, id.size);
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  if (name == TITAN_COLLECTIVE_V1) return comm::collective_interface();
  return nullptr;
}

config::Config small_run(std::int64_t ranks) {
  const std::string folder = TITAN_SOURCE_FOLDER;
  return configure("llama3_parity", {{"debug.seed", "7"},
                                     {"debug.replica_audit_freq", "1"},
                                     {"model.n_layers", "2"},
                                     {"training.max_context_length", "8"},
                                     {"training.num_tokens_per_microbatch_per_dp_rank", std::to_string(32 / ranks)},
                                     {"training.num_tokens_per_train_step", "64"},
                                     {"training.steps", std::to_string(kSteps)},
                                     {"hf_assets_path", folder + "/tests/assets/tokenizer"},
                                     {"dataloader.dataset_path", folder + "/tests/assets/corpus"}});
}

/// Loss and gradient norm of each step of a run in which the example is the only strategy.
std::vector<StepFigures> train(const config::Mesh& mesh) {
  at::set_num_threads(1);
  const config::Config config = small_run(mesh.world_size());
  plugin::Search search;
  search.files = {TITAN_EXAMPLE_PLUGIN};
  const plugin::PluginRegistry example(search);
  std::vector<StepFigures> figures;
  std::mutex mutex;
  const auto run_rank = [&](comm::Communicator& communicator) {
    std::optional<RankPlugins> plugins;
    std::unique_ptr<plugin::Instance> strategy;
    {
      const std::scoped_lock lock(mutex);
      plugins.emplace(config, communicator.rank(), communicator.size());
      strategy = example.load(example.plugins().front(), {&config, &engine_interface, 0, 1});
    }
    EngineRun engine_run = plugins->run(communicator);
    engine_run.strategies = {strategy->interface<titan_strategy_v1>(TITAN_STRATEGY_V1)};
    train::Run run(engine_run);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const auto result = run.trainer().step();
      if (communicator.rank() == 0) figures.push_back({result->loss, result->grad_norm});
    }
  };
  run_rank_threads(mesh, run_rank);
  return figures;
}

TEST(ExampleStrategy, TrainsAsOneRankDoes) {
  const auto one = train(config::Mesh()), two = train(config::Mesh({1, 2, 1, 1, 1}, 2));
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t step = 0; step < one.size(); ++step) {
    EXPECT_NEAR(two[step].loss, one[step].loss, 1e-9);
    EXPECT_NEAR(two[step].grad_norm, one[step].grad_norm, 1e-9);
  }
}

std::string content_of(const std::string& path) {
  std::ifstream file(std::string(TITAN_SOURCE_FOLDER) + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ExampleStrategy, IsWhatTheDocumentationShows) {
  const std::string example = content_of("/sdk/examples/plain_ddp/plain_ddp.cpp");
  ASSERT_FALSE(example.empty());
  EXPECT_THAT(content_of("/docs/parallelism.md"), HasSubstr(example));
}

TEST(ExampleStrategy, RefusesWhatItDoesNotKnow) {
  try {
    train(config::Mesh({1, 1, 2, 1, 1}, 2));
    FAIL() << "a sharded layout passed";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 ranks along dp_shard"));
    EXPECT_THAT(error.what(), HasSubstr("--parallelism.data_parallel_shard_degree 1"));
  }
}

}  // namespace
}  // namespace titan::testing
