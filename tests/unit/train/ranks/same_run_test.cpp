#include "core/train/ranks/same_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/registry.hpp"
#include "core/config/resolver.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

std::string difference(const RunFacts& facts, comm::Communicator& communicator) {
  Ranks ranks(communicator);
  try {
    require_same_run(facts, ranks);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "the same";
}

TEST(SameRun, FactsAreTheOptionsThatMustMatchAndThePlugins) {
  config::Registry registry;
  config::add_core_options(registry);
  const config::Config config =
      config::resolve_settings(registry, {{"training.steps", "7"}, {"training.num_threads", "3"}});
  EngineRun run;
  run.config = &config;
  run.plugin_digests = {"llama3 0.1.0 aabb"};
  const RunFacts facts = facts_of(run);
  EXPECT_THAT(facts, Contains(Pair("training.steps", "7")));
  EXPECT_THAT(facts, Contains(Pair("plugin llama3", "llama3 0.1.0 aabb")));
  EXPECT_THAT(facts, Not(Contains(Key("training.num_threads"))));
}

TEST(SameRun, EqualFactsPass) {
  testing::run_rank_threads(3, [](comm::Communicator& communicator) {
    EXPECT_EQ(difference({{"a", "1"}, {"b", "x = y"}}, communicator), "the same");
  });
}

TEST(SameRun, EveryRankNamesWhatDiffersWithRanksAndValues) {
  testing::run_rank_threads(3, [](comm::Communicator& communicator) {
    const std::string steps = communicator.rank() == 2 ? "6" : "5";
    EXPECT_THAT(difference({{"debug.seed", "1"}, {"training.steps", steps}}, communicator),
                AllOf(HasSubstr("training.steps: 5 on ranks 0, 1; 6 on rank 2"), Not(HasSubstr("debug.seed"))));
  });
}

TEST(SameRun, AFactThatSomeLackDiffersToo) {
  testing::run_rank_threads(2, [](comm::Communicator& communicator) {
    RunFacts facts{{"a", "1"}};
    if (communicator.rank() == 1) facts.emplace_back("plugin watch", "watch 1.0 cc");
    EXPECT_THAT(difference(facts, communicator), HasSubstr("(not there) on rank 0; watch 1.0 cc on rank 1"));
  });
}

TEST(SameRun, ManyDifferencesAreCounted) {
  testing::run_rank_threads(2, [](comm::Communicator& communicator) {
    RunFacts facts;
    for (int i = 0; i < 9; ++i) facts.emplace_back("option" + std::to_string(i), std::to_string(communicator.rank()));
    EXPECT_THAT(difference(facts, communicator), AllOf(HasSubstr("option4"), HasSubstr("and 4 more")));
  });
}

}  // namespace
}  // namespace titan::train
