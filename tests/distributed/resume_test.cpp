// A run that is cut in two and goes on equals the whole one, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"
#include "tests/distributed/trained_ranks.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSteps = 20, kCut = 10;

struct Case {
  std::string name;
  config::Degrees degrees;
  const char* async_mode = "disabled";
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

/// Accumulates gradients, and validates.
RankRuns run_of(const config::Degrees& degrees, std::int64_t steps) {
  RankRuns runs = parity_run(degrees, kSingle, degrees[0] > 1 ? 4 : 2);
  runs.steps = steps;
  return with(std::move(runs), {{"lr_scheduler.total_steps", std::to_string(kSteps)},
                                {"lr_scheduler.warmup_steps", "3"},
                                {"parallelism.num_pp_microbatches", degrees[0] > 1 ? "2" : "1"},
                                {"validator.enable", "true"},
                                {"validator.freq", "4"},
                                {"validator.steps", "2"}});
}

void expect_continues(const Trained& rest, const Trained& whole) {
  EXPECT_EQ(rest.steps.size(), static_cast<std::size_t>(kSteps - kCut));
  for (const auto& [step, figures] : rest.steps) {
    EXPECT_EQ(figures.loss, whole.steps.at(step).loss) << step;
    EXPECT_EQ(figures.grad_norm, whole.steps.at(step).grad_norm) << step;
    EXPECT_EQ(rest.tokens.at(step), whole.tokens.at(step)) << step;
  }
  EXPECT_EQ(rest.validation.size(), 3u) << "after steps 12, 16 and 20";
  for (const auto& [step, loss] : rest.validation) EXPECT_EQ(loss, whole.validation.at(step)) << step;
  EXPECT_TRUE(bit_equal(rest.state, whole.state));
  EXPECT_EQ(rest.data, whole.data) << "the next batches";
  for (std::size_t rank = 0; rank < whole.random.size(); ++rank) {
    EXPECT_TRUE(rest.random[rank].equal(whole.random[rank])) << rank;
  }
}

class Resume : public ::testing::TestWithParam<Case> {};

TEST_P(Resume, GoesOnAsIfItHadNotStopped) {
  const test::TemporaryFolder folder;
  const auto cut_run = [&](std::int64_t steps) {
    return with(saving(run_of(GetParam().degrees, steps), folder.path()),
                {{"checkpoint.async_mode", GetParam().async_mode}, {"checkpoint.interval", "4"}});
  };
  const Trained whole = train_ranks(run_of(GetParam().degrees, kSteps));
  train_ranks(cut_run(kCut));
  expect_continues(train_ranks(cut_run(kSteps)), whole);
}

INSTANTIATE_TEST_SUITE_P(Layouts, Resume,
                         ::testing::Values(Case{"one", kOneRank}, Case{"one_async", kOneRank, "async"},
                                           Case{"fsdp2", {1, 1, 2, 1, 1}},
                                           Case{"fsdp2_async", {1, 1, 2, 1, 1}, "async"},
                                           Case{"fsdp2_tp2", {1, 1, 2, 1, 2}},
                                           Case{"fsdp2_tp2_async", {1, 1, 2, 1, 2}, "async"},
                                           Case{"pp2", {2, 1, 1, 1, 1}}, Case{"pp2_async", {2, 1, 1, 1, 1}, "async"}),
                         [](const auto& one) { return one.param.name; });

RankRuns dropout_run(std::int64_t steps) {
  RankRuns runs;
  runs.preset = "dropout_small";
  runs.degrees = {1, 1, 2, 1, 1};
  runs.steps = steps;
  return with(std::move(runs), {{"lr_scheduler.total_steps", "6"}});
}

TEST(ResumeOfRandomNumbers, DropoutGoesOnToo) {
  const test::TemporaryFolder folder;
  const Trained whole = train_ranks(dropout_run(6));
  train_ranks(saving(dropout_run(3), folder.path()));
  const Trained rest = train_ranks(saving(dropout_run(6), folder.path()));
  EXPECT_EQ(rest.steps.at(4).loss, whole.steps.at(4).loss);
  EXPECT_TRUE(bit_equal(rest.state, whole.state));
}

TEST(ResumeExcluding, OptimizerAndScheduleBeginAnew) {
  const test::TemporaryFolder folder;
  const Trained saved = train_ranks(saving(run_of(kOneRank, 4), folder.path()));
  const Trained loaded = train_ranks(
      with(saving(run_of(kOneRank, 4), folder.path()),
           {{"checkpoint.load_only", "true"}, {"checkpoint.exclude_from_loading", "optimizer,lr_scheduler"}}));
  EXPECT_TRUE(loaded.steps.empty()) << "the steps are counted on";
  const std::string weight = "layers.0.attention.wq.weight";
  EXPECT_TRUE(loaded.state.at(weight).equal(saved.state.at(weight)));
  EXPECT_EQ(loaded.state.at("optimizer.state." + weight + ".step").item<double>(), 0);
  EXPECT_EQ(loaded.state.at("optimizer.state." + weight + ".exp_avg").abs().max().item<double>(), 0);
}

TEST(ResumeExcluding, StepsAndDataBeginAnew) {
  const test::TemporaryFolder folder;
  const Trained fresh = train_ranks(run_of(kOneRank, 1));
  train_ranks(saving(run_of(kOneRank, 4), folder.path()));
  const Trained again = train_ranks(
      with(saving(run_of(kOneRank, 1), folder.path()),
           {{"checkpoint.load_only", "true"}, {"checkpoint.exclude_from_loading", "train_state,dataloader"}}));
  ASSERT_EQ(again.steps.size(), 1u);
  EXPECT_EQ(again.steps.count(1), 1u);
  EXPECT_EQ(again.data, fresh.data);
}

TEST(ResumeOfAModel, IsRefusedAndNamesTheRemedy) {
  const test::TemporaryFolder folder;
  const auto run = [&](std::int64_t steps) {
    return with(saving(run_of(kOneRank, steps), folder.path()), {{"checkpoint.last_save_model_only", "true"}});
  };
  train_ranks(run(2));
  const std::string text = error_text<Error>([&] { train_ranks(run(4)); });
  EXPECT_THAT(text, HasSubstr("holds the model alone"));
  EXPECT_THAT(text, HasSubstr("--checkpoint.initial_load_path"));
  EXPECT_THAT(text, HasSubstr("no other step there holds more"));
  EXPECT_THAT(text, HasSubstr("--checkpoint.no_last_save_model_only"));
}

TEST(ResumeOfAModel, NamesTheStepThatCanBeUsed) {
  const test::TemporaryFolder folder;
  const auto run = [&](std::int64_t steps) {
    return with(saving(run_of(kOneRank, steps), folder.path()),
                {{"checkpoint.last_save_model_only", "true"}, {"checkpoint.interval", "1"}});
  };
  train_ranks(run(3));
  EXPECT_THAT(error_text<Error>([&] { train_ranks(run(5)); }), HasSubstr("--checkpoint.load_step 2, or "));
}

}  // namespace
}  // namespace titan::testing
