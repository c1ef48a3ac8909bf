#include "core/train/ranks/strategies.hpp"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "core/base/abi_error.hpp"
#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/train/ranks/rank_trainer.hpp"
#include "tests/unit/train/recorder.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tiny::error_host;
using tiny::SummingStrategy;

template <class Failure, class Body>
std::string failure(const Body& body) {
  try {
    body();
  } catch (const Failure& error) {
    return error.what();
  }
  return "no failure of that kind";
}

TEST(Strategies, AreToldTheLayout) {
  SummingStrategy strategy;
  Strategies({error_host(), {strategy.plugin()}}).validate(config::Mesh({1, 2, 3, 1, 1}, 6), {});
  EXPECT_EQ(strategy.mesh.world_size, 6U);
  EXPECT_EQ(strategy.mesh.dp_replicate, 2U);
  EXPECT_EQ(strategy.mesh.dp_shard, 3U);
  EXPECT_EQ(strategy.mesh.tp, 1U);
  EXPECT_EQ(strategy.mesh.ep, 1U);
  Strategies({error_host(), {strategy.plugin()}}).validate(config::Mesh({1, 1, 4, 1, 1}, 4, 2), {});
  EXPECT_EQ(strategy.mesh.ep, 2U);
}

TEST(Strategies, SeveralRanksWithoutOneAreRefused) {
  const Strategies none;
  EXPECT_NO_THROW(none.validate(config::Mesh(), {}));
  EXPECT_THAT(failure<ConfigError>([&] {
                none.validate(config::Mesh({1, 1, 4, 1, 1}, 4), {});
              }),
              HasSubstr("dp_shard 4"));
}

TEST(Strategies, TheOutermostComesFirst) {
  const tiny::LogLines log;
  testing::run_rank_threads(2, [](comm::Communicator& ranks) {
    SummingStrategy inner(300), outer(100);
    Strategies strategies(error_host(), {inner.plugin("inner"), outer.plugin("outer")});
    nn::Tree tree;
    outer.fail_at = "apply";
    EXPECT_THAT(failure<ConfigError>([&] { strategies.apply(tree, ranks); }), HasSubstr("[outer] apply"));
    EXPECT_TRUE(inner.seen.empty());
  });
  EXPECT_THAT(log.with("strategy 1 of 2: outer, priority 100"), ::testing::SizeIs(2));
}

TEST(Strategies, CallbacksMayBeAbsent) {
  titan_strategy_v1 table{};
  table.struct_size = sizeof table;
  Strategies strategies(error_host(), {{"silent", nullptr, &table}});
  EXPECT_NO_THROW(strategies.validate({}, {}));
  EXPECT_NO_THROW(strategies.updated());
}

titan_error* keep_first_column(void*, const titan_tensor in[3], titan_tensor out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = handle::release(handle::borrow(in[i]).slice(1, 0, 1));
  return nullptr;
}

TEST(Strategies, SplitBatches) {
  titan_strategy_v1 table{};
  table.struct_size = sizeof table;
  const Strategies none(error_host(), {{"silent", nullptr, &table}});
  const MicroBatch batch{at::ones({2, 4}, at::kLong), at::ones({2, 4}, at::kLong), at::zeros({2, 4}, at::kLong)};
  EXPECT_TRUE(none.split_batch(batch).tokens.is_same(batch.tokens));
  titan_strategy_v1 splits = table;
  splits.split_batch = keep_first_column;
  const MicroBatch mine = Strategies(error_host(), {{"splits", nullptr, &splits}}).split_batch(batch);
  EXPECT_EQ(mine.tokens.sizes(), at::IntArrayRef({2, 1}));
  EXPECT_EQ(mine.positions.sum().item<std::int64_t>(), 0);
  splits.split_batch = [](void*, const titan_tensor*, titan_tensor*) -> titan_error* { return nullptr; };
  EXPECT_THAT(failure<PluginError>([&] {
                Strategies(error_host(), {{"splits", nullptr, &splits}}).split_batch(batch);
              }),
              HasSubstr("output unset"));
}

// A plugin that was built before a callback was added has a shorter table: what lies behind it must not be read.
TEST(Strategies, TablesOfOlderPluginsEndEarlier) {
  struct {
    titan_strategy_v1 table{};
    void* behind = nullptr;
  } old;
  old.table.struct_size = offsetof(titan_strategy_v1, backward_begin);
  std::memset(static_cast<void*>(&old.table.backward_begin), 0x5a, 3 * sizeof(void*));
  Strategies strategies(error_host(), {{"old", nullptr, &old.table}});
  EXPECT_NO_THROW(strategies.backward_begin({}));
  EXPECT_NO_THROW(strategies.step_end());
  const MicroBatch batch{at::ones({1, 1}), at::ones({1, 1}), at::ones({1, 1})};
  EXPECT_TRUE(strategies.split_batch(batch).tokens.is_same(batch.tokens));
}

TEST(Strategies, HearOfMicroBatches) {
  SummingStrategy strategy;
  Strategies strategies(error_host(), {strategy.plugin()});
  strategies.materialised();
  strategies.micro_batch_begin({.index = 2, .is_last = false, .training = true});
  strategies.micro_batch_end({.index = 3, .is_last = true, .training = false});
  EXPECT_THAT(strategy.seen, ElementsAre("materialised", "begin 2", "end 3 last forward"));
}

TEST(Strategies, OneThatCannotForgetAStepIsRefusedByName) {
  struct Forgetful {
    int times = 0;
  } forgetful;
  titan_strategy_v1 newer{}, stateless{};
  newer.struct_size = sizeof newer;
  newer.updated = [](void*) { return new_abi_error(TITAN_ERROR_INTERNAL, "there was no update"); };
  newer.discard = [](void* ctx) -> titan_error* {
    ++static_cast<Forgetful*>(ctx)->times;
    return nullptr;
  };
  stateless.struct_size = sizeof stateless;
  Strategies(error_host(), {{"newer", &forgetful, &newer}, {"stateless", nullptr, &stateless}}).discard();
  EXPECT_EQ(forgetful.times, 1);
  titan_strategy_v1 counts{};
  counts.struct_size = offsetof(titan_strategy_v1, discard);  // of a plugin that is older than the callback
  counts.updated = newer.updated;
  Strategies strategies(error_host(), {{"newer", &forgetful, &newer}, {"counts", nullptr, &counts}});
  EXPECT_THAT(failure<ConfigError>([&] { strategies.discard(); }), HasSubstr("no discard(): plugin counts"));
  EXPECT_EQ(forgetful.times, 1) << "nobody forgets half a step";
}

}  // namespace
}  // namespace titan::train
