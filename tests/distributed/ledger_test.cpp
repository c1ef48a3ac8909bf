// Strategies that break their promises do not reach the optimizer.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <optional>

#include "core/base/error.hpp"
#include "core/nn/tree.hpp"
#include "core/train/run.hpp"
#include "tests/distributed/rank_plugins.hpp"
#include "tests/distributed/rank_runs.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A strategy that sums no gradient, and may say of replicas that it did.
struct NoReduction {
  bool lies = false;
  nn::Tree* tree = nullptr;

  PluginInterface<titan_strategy_v1> strategy() { return {"no_reduction", this, &table()}; }

 private:
  static const titan_strategy_v1& table() {
    static const titan_strategy_v1 made = [] {
      titan_strategy_v1 table{};
      table.struct_size = sizeof table;
      table.apply = [](void* ctx, titan_tree* tree, titan_mesh*) -> titan_error* {
        static_cast<NoReduction*>(ctx)->tree = reinterpret_cast<nn::Tree*>(tree);
        return nullptr;
      };
      table.micro_batch_end = [](void* ctx, const titan_micro_batch*) -> titan_error* {
        static_cast<NoReduction*>(ctx)->lie();
        return nullptr;
      };
      return table;
    }();
    return made;
  }
  void lie() {
    if (!lies) return;
    for (const auto& parameter : tree->parameters()) {
      tree->mark_gradient(*parameter, {config::Axis::dp_replicate}, TITAN_GRADIENT_EQUAL);
    }
  }
};

constexpr config::Degrees kReplicas{1, 2, 1, 1, 1}, kContexts{1, 1, 1, 2, 1};

/// What the run of two ranks under the strategy ends in.
std::string error_of(const config::Degrees& degrees, bool lies) {
  at::set_num_threads(1);
  const std::string folder = TITAN_SOURCE_FOLDER;
  const config::Config config =
      configure("llama3_parity", {{"debug.seed", "7"},
                                  {"model.n_layers", "1"},
                                  {"training.max_context_length", "8"},
                                  {"training.num_tokens_per_microbatch_per_dp_rank", "16"},
                                  {"training.steps", "1"},
                                  {"hf_assets_path", folder + "/tests/assets/tokenizer"},
                                  {"dataloader.dataset_path", folder + "/tests/assets/corpus"}});
  std::mutex mutex;
  const auto run_rank = [&](comm::Communicator& communicator) {
    std::optional<RankPlugins> plugins;
    {
      const std::scoped_lock lock(mutex);
      plugins.emplace(config, communicator.rank(), communicator.size());
    }
    NoReduction broken{lies};
    EngineRun engine_run = plugins->run(communicator);
    engine_run.strategies = {broken.strategy()};
    train::Run run(engine_run);
    run.trainer().step();
  };
  try {
    run_rank_threads(config::Mesh(degrees, 2), run_rank);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::internal) << error.what();
    return error.what();
  }
  return "(nothing)";
}

TEST(Ledger, ASkippedReductionIsRefusedByParameterAndAxis) {
  EXPECT_THAT(error_of(kReplicas, false), AllOf(HasSubstr("tok_embeddings.weight"), HasSubstr("axis dp_replicate"),
                                                HasSubstr("still to be summed")));
}

TEST(Ledger, ASkippedReductionOfContextsIsRefusedToo) {
  EXPECT_THAT(error_of(kContexts, false),
              AllOf(HasSubstr("tok_embeddings.weight"), HasSubstr("axis cp"), HasSubstr("still to be summed")));
}

TEST(Ledger, ALieIsFoundByTheReplicaAudit) {
  EXPECT_THAT(error_of(kReplicas, true), AllOf(HasSubstr("tok_embeddings.weight"), HasSubstr("step 1")));
}

}  // namespace
}  // namespace titan::testing
