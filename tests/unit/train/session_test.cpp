#include "core/train/session.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/error.hpp"
#include "core/config/resolver.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_model.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using tiny::LogLines;
using tiny::Recorder;
using tiny::Settings;

class Session : public ::testing::Test {
 protected:
  void SetUp() override {
    TITAN_REQUIRE_VECTORS("tokenizer/tokenizer.json");
    config::add_core_options(registry_);
    settings_ = tiny::tiny_settings(folder_);
  }

  void run(const Settings& more = {}) {
    Settings all = settings_;
    all.insert(all.end(), more.begin(), more.end());
    const config::Config config = config::resolve_settings(registry_, all);
    EngineRun run;
    run.config = &config;
    run.host = tiny::error_host();
    run.stop = &stop_;
    run.ranks.local_world_size = ranks_of_machine_;
    run.model = model_.plugin();
    run.observers = {recorder_.plugin()};
    train(run);
  }

  template <class Failure>
  std::string failure(const Settings& more) {
    try {
      run(more);
    } catch (const Failure& error) {
      return error.what();
    }
    return "none of that kind";
  }

  std::vector<double> figures() const {
    std::vector<double> all;
    for (const auto& step : recorder_.steps) all.insert(all.end(), {step.loss, step.grad_norm});
    return all;
  }

  LogLines log_;
  test::TemporaryFolder folder_;
  config::Registry registry_;
  Settings settings_;
  StopFlag stop_;
  tiny::TinyModel model_;
  std::int64_t ranks_of_machine_ = 1;
  Recorder recorder_;
};

TEST_F(Session, TrainsAndTellsWhatItDoes) {
  run();
  EXPECT_THAT(recorder_.seen, ElementsAre("run_begin", "step 1", "step 2", "step 3", "run_end 0 after 3"));
  EXPECT_EQ(recorder_.begin.device, TITAN_DEVICE_CPU);
  EXPECT_EQ(recorder_.begin.num_parameters, 2 * 2048 * tiny::kDim);
  EXPECT_DOUBLE_EQ(recorder_.begin.num_flops_per_token, 42);
  EXPECT_EQ(recorder_.steps[0].num_tokens, 32);
  EXPECT_THAT(log_.with("precision:"), ElementsAre(HasSubstr("storage float32, compute bfloat16")));
  EXPECT_THAT(log_.with("training starts"), ElementsAre(HasSubstr("2 rows x 16 tokens")));
}

TEST_F(Session, TheSameSeedGivesTheSameBits) {
  run();
  const auto first = figures();
  recorder_.steps.clear();
  run();
  EXPECT_EQ(figures(), first);
  recorder_.steps.clear();
  run({{"debug.seed", "2"}});
  EXPECT_NE(figures(), first);
}

TEST_F(Session, ADrawnSeedIsToldAndRepeatsTheRun) {
  run({{"debug.seed", "None"}});
  const auto first = figures();
  const auto told = log_.with("--debug.seed=");
  ASSERT_THAT(told, SizeIs(1));
  recorder_.steps.clear();
  run({{"debug.seed", told[0].substr(told[0].find("--debug.seed=") + 13)}});
  EXPECT_EQ(figures(), first);
}

TEST_F(Session, AccumulatesAndValidates) {
  run({{"training.num_tokens_per_train_step", "64"}, {"validator.enable", "true"}, {"validator.freq", "2"}});
  EXPECT_THAT(recorder_.seen, ElementsAre("run_begin", "step 1", "validation 1", "step 2", "validation 2", "step 3",
                                          "run_end 0 after 3"));
  EXPECT_EQ(recorder_.steps[0].num_tokens, 64);
  // Every pass reads the whole set: the same number of tokens each time.
  EXPECT_EQ(recorder_.validations[0].num_tokens, recorder_.validations[1].num_tokens);
  EXPECT_GT(recorder_.validations[0].num_tokens, 40);
}

TEST_F(Session, ADeterministicRunGivesTheSameFigures) {
  run({{"training.steps", "1"}});
  const auto plain = figures();
  recorder_.steps.clear();
  run({{"training.steps", "1"}, {"debug.deterministic", "true"}});
  EXPECT_EQ(figures(), plain);
}

TEST_F(Session, EndsWithTheDataWhenItMayNotRepeat) {
  run({{"training.steps", "1000"}, {"dataloader.repeat", "false"}});
  EXPECT_THAT(log_.with("the data ended"), SizeIs(1));
  EXPECT_THAT(recorder_.seen.back(), HasSubstr("run_end 0"));
}

TEST_F(Session, TheEndOfDataMayBeAnError) {
  EXPECT_THAT(failure<DataError>(
                  {{"training.steps", "1000"}, {"dataloader.repeat", "false"}, {"dataloader.end_of_data", "error"}}),
              HasSubstr("dataloader.end_of_data is error"));
  EXPECT_THAT(recorder_.seen.back(), HasSubstr("run_end 65"));
}

TEST_F(Session, RanksOfOneMachineShareItsThreads) {
  const int threads = at::get_num_threads();
  ::unsetenv("OMP_NUM_THREADS");
  ranks_of_machine_ = 1000;
  run({{"training.steps", "1"}});
  EXPECT_THAT(log_.with("device: cpu"), ElementsAre(HasSubstr("1 thread")));
  run({{"training.steps", "1"}, {"training.num_threads", "2"}});
  EXPECT_THAT(log_.with("device: cpu"), ::testing::Contains(HasSubstr("2 threads")));
  at::set_num_threads(threads);
}

TEST_F(Session, ShowsTheGroupsOfTheOptimizer) {
  run({{"optimizer.param_groups", R"([{"pattern": "^output", "optimizer_kwargs": {"lr": 0.5}}])"}});
  EXPECT_THAT(log_.with("optimizer AdamW"), ElementsAre(HasSubstr("matching '^output'"), HasSubstr("no pattern")));
  EXPECT_DOUBLE_EQ(recorder_.steps[0].lr, 0.5);
}

TEST_F(Session, WarnsOfWhatIsIgnoredOrAdjusted) {
  run({{"debug.deterministic_warn_only", "true"}, {"lr_scheduler.warmup_steps", "9"}});
  EXPECT_THAT(log_.with("deterministic_warn_only has no effect"), SizeIs(1));
  EXPECT_THAT(log_.with("lr_scheduler.warmup_steps exceeds"), SizeIs(1));
}

TEST_F(Session, RefusesBadInputBeforeAnythingStarts) {
  EXPECT_THAT(failure<InputError>({{"hf_assets_path", (folder_ / "none").string()}}), HasSubstr("none"));
  EXPECT_THAT(failure<InputError>({{"dataloader.dataset_path", (folder_ / "gone.jsonl").string()}}),
              HasSubstr("gone.jsonl"));
  EXPECT_THAT(failure<InputError>({{"validator.enable", "true"}, {"validator.dataset_path", "/nowhere"}}),
              HasSubstr("/nowhere"));
  EXPECT_THAT(failure<ConfigError>({{"training.max_context_length", "5"}}), HasSubstr("32 = 6 x 5 + 2"));
  EXPECT_THAT(failure<ConfigError>({{"training.device", "cuda"}}), HasSubstr("training.device"));
  EXPECT_THAT(failure<ConfigError>({{"optimizer.param_groups", R"([{"pattern": "router"}])"}}), HasSubstr("'router'"));
  EXPECT_THAT(recorder_.seen, SizeIs(0));
}

TEST_F(Session, RefusesATokenizerLargerThanTheModel) {
  model_.vocabulary = 100;
  EXPECT_THAT(failure<ConfigError>({}), AllOf(HasSubstr("2048"), HasSubstr("100"), HasSubstr("hf_assets_path")));
}

TEST_F(Session, StopsOnRequest) {
  stop_.request(2);
  EXPECT_THROW(run(), Interrupted);
}

}  // namespace
}  // namespace titan::train
