#include "core/train/ranks/strategies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/train/ranks/rank_trainer.hpp"
#include "tests/unit/train/recorder.hpp"

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

TEST(Strategies, HearOfMicroBatches) {
  SummingStrategy strategy;
  Strategies strategies(error_host(), {strategy.plugin()});
  strategies.materialised();
  strategies.micro_batch_begin(2, false, true);
  strategies.micro_batch_end(3, true, false);
  EXPECT_THAT(strategy.seen, ElementsAre("materialised", "begin 2", "end 3 last forward"));
}

}  // namespace
}  // namespace titan::train
