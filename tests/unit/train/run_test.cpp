#include "core/train/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/quit.hpp"
#include "core/config/registry.hpp"
#include "core/config/resolver.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/train/ranks/rank_trainer.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_model.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using tiny::ends_of;
using tiny::RankEnd;
using tiny::Settings;

/// The communicator outlives the run, however that ends, and must not call into it.
struct LeftAlone {
  comm::Communicator& communicator;
  ~LeftAlone() {
    EXPECT_EQ(communicator.place(), "");
    EXPECT_FALSE(communicator.running_module);
    EXPECT_FALSE(communicator.records().on_retired);
  }
};

/// Runs of two thread ranks with the tiny model and a strategy that sums.
class RunOfTwo : public ::testing::Test {
 protected:
  /// What one rank brings.
  struct Rank {
    tiny::TinyModel model;
    tiny::SummingStrategy strategy;
    tiny::Recorder recorder;
    Settings more;
    bool has_strategy = true;
    StopFlag stop;
    WrapSource wrap;
  };

  void SetUp() override {
    TITAN_REQUIRE_VECTORS("tokenizer/tokenizer.json");
    config::add_core_options(registry_);
    settings_ = tiny::tiny_settings(folder_);
  }

  /// Makes each rank's Run and hands it to `body`. How the ranks ended.
  std::vector<RankEnd> run(const std::function<void(train::Run&)>& body) {
    return ends_of(2, [&](comm::Communicator& communicator) {
      Rank& rank = ranks_[static_cast<std::size_t>(communicator.rank())];
      Settings all = settings_;
      all.insert(all.end(), rank.more.begin(), rank.more.end());
      const config::Config config = config::resolve_settings(registry_, all);
      EngineRun engine_run;
      engine_run.config = &config;
      engine_run.host = tiny::error_host();
      engine_run.stop = &rank.stop;
      engine_run.model = rank.model.plugin();
      engine_run.observers = {rank.recorder.plugin()};
      if (rank.has_strategy) engine_run.strategies = {rank.strategy.plugin()};
      engine_run.mesh = communicator.mesh();
      engine_run.communicator = &communicator;
      const LeftAlone after{communicator};
      train::Run made(engine_run, rank.wrap);
      body(made);
    });
  }
  std::vector<RankEnd> train() {
    return run([](train::Run& made) { made.train(); });
  }

  test::TemporaryFolder folder_;
  config::Registry registry_;
  Settings settings_;
  Rank ranks_[2];
};

TEST_F(RunOfTwo, TrainsToTheEndTogether) {
  EXPECT_THAT(train(), Each(Field(&RankEnd::code, 0)));
  for (Rank& rank : ranks_) {
    EXPECT_THAT(rank.recorder.seen, ElementsAre("run_begin", "step 1", "step 2", "step 3", "run_end 0 after 3"));
    EXPECT_EQ(rank.recorder.steps[2].num_tokens, 32);
    EXPECT_EQ(rank.recorder.steps[2].total_tokens, 3 * 2 * 32);
    EXPECT_EQ(rank.recorder.steps[2].loss, ranks_[0].recorder.steps[2].loss);
  }
  EXPECT_EQ(ranks_[1].strategy.mesh.world_size, 2U);
  EXPECT_THAT(ranks_[1].strategy.seen,
              ElementsAre("validate", "apply", "materialised", "begin 0 last", "end 0 last", "updated", "begin 0 last",
                          "end 0 last", "updated", "begin 0 last", "end 0 last", "updated"));
}

TEST_F(RunOfTwo, ValidatesTogether) {
  settings_.push_back({"validator.enable", "true"});
  EXPECT_THAT(train(), Each(Field(&RankEnd::code, 0)));
  EXPECT_EQ(ranks_[0].recorder.validations[0].num_tokens, ranks_[1].recorder.validations[0].num_tokens);
  EXPECT_EQ(ranks_[0].recorder.validations[0].loss, ranks_[1].recorder.validations[0].loss);
}

TEST_F(RunOfTwo, RefusesOptionsThatDifferBetweenRanks) {
  ranks_[1].more = {{"optimizer.lr", "0.5"}, {"dump_folder", "elsewhere"}};
  EXPECT_THAT(train(),
              Each(AllOf(Field(&RankEnd::code, TITAN_ERROR_CONFIG),
                         Field(&RankEnd::message, AllOf(HasSubstr("optimizer.lr: "), HasSubstr("0.5 on rank 1"),
                                                        Not(HasSubstr("dump_folder")))))));
}

TEST_F(RunOfTwo, DrawsOneSeedForAll) {
  settings_.push_back({"debug.seed", "None"});
  std::mutex mutex;
  std::vector<at::Tensor> weights;
  const auto ends = run([&](train::Run& made) {
    const std::scoped_lock lock(mutex);
    weights.push_back(made.tree().parameters()[0]->storage.detach().clone());
  });
  EXPECT_THAT(ends, Each(Field(&RankEnd::code, 0)));
  EXPECT_TRUE(weights[0].equal(weights[1]));
}

TEST_F(RunOfTwo, RefusesSeveralRanksWithoutAStrategy) {
  for (Rank& rank : ranks_) rank.has_strategy = false;
  EXPECT_THAT(train(), Each(Field(&RankEnd::message, HasSubstr("dp_replicate 2"))));
}

TEST_F(RunOfTwo, AStrategyMayRefuseTheLayoutBeforeAnythingStarts) {
  for (Rank& rank : ranks_) rank.strategy.fail_at = "validate";
  EXPECT_THAT(train(), Each(Field(&RankEnd::message, HasSubstr("[sums] validate: no such layout"))));
  EXPECT_THAT(ranks_[0].strategy.seen, ElementsAre("validate"));
}

TEST_F(RunOfTwo, AFailureOfOneIsTheOthersRootCause) {
  ranks_[1].strategy.fail_at = "materialised";
  const auto ends = train();
  EXPECT_EQ(ends[1].code, TITAN_ERROR_CONFIG);
  EXPECT_EQ(ends[0].code, TITAN_ERROR_UNAVAILABLE);
  EXPECT_THAT(ends[0].message, HasSubstr("no such layout"));
}

TEST_F(RunOfTwo, AStopOfOneEndsBothWithItsSignal) {
  ranks_[0].stop.request(SIGTERM);
  EXPECT_THAT(train(), Each(Field(&RankEnd::code, 128 + SIGTERM)));
}

/// Where somebody ends the run at a prompt instead of a first batch.
struct QuittingSource : BatchSource {
  std::optional<data::Batch> next() override { throw Quit("quit at the breakpoint"); }
  void rewind() override {}
  std::string state() const override { return {}; }
  void load_state(const std::string&) override {}
};

TEST_F(RunOfTwo, AQuitIsNoErrorInWhatIsWrittenDown) {
  ranks_[1].recorder = tiny::Recorder(TITAN_EVENT_DUMP);
  ranks_[1].wrap = [](std::unique_ptr<BatchSource>) { return std::make_unique<QuittingSource>(); };
  EXPECT_EQ(train()[1].code, TITAN_ERROR_QUIT);
  EXPECT_THAT(ranks_[1].recorder.seen, AllOf(Not(IsEmpty()), Each(HasSubstr("dump 5: quit at the breakpoint"))));
}

TEST_F(RunOfTwo, ObserversHearOfEveryCollective) {
  ranks_[1].recorder = tiny::Recorder(TITAN_EVENT_COLLECTIVE | TITAN_EVENT_STEP_END);
  train();
  std::size_t before_first_step = 0, in_second_step = 0;
  std::size_t step = 1;
  for (const std::string& seen : ranks_[1].recorder.seen) {
    if (seen.starts_with("step")) ++step;
    before_first_step += step == 1 && seen == "all_reduce of world" ? 1 : 0;
    in_second_step += step == 2 && seen == "all_reduce of world" ? 1 : 0;
  }
  EXPECT_EQ(in_second_step, 4U);  // two agreements, two parameters
  EXPECT_GE(before_first_step, 4U);
}

}  // namespace
}  // namespace titan::train
