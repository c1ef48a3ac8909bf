#include "core/train/train_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "core/base/error.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tiny::ListSource;
using tiny::LogLines;
using tiny::Recorder;
using tiny::tiny_batch;

/// A run of a tiny model with a recorder.
struct TinyRun {
  TinyRun(std::int64_t steps, bool repeat, const StopFlag* stop = nullptr)
      : tree(tiny::tiny_tree()),
        source({tiny_batch(2, 5, 1), tiny_batch(2, 5, 2)}, repeat),
        trainer(*tree, source, tiny::tiny_optimizer(*tree), tiny::constant_schedule(), {}, stop),
        observers(tiny::error_host(), {recorder.plugin()}),
        parts{trainer, nullptr, observers} {
    parts.begin.struct_size = sizeof parts.begin;
    parts.begin.first_step = 1;
    parts.begin.last_step = steps;
  }

  std::unique_ptr<nn::Tree> tree;
  ListSource source;
  Trainer trainer;
  Recorder recorder;
  Observers observers;
  LoopParts parts;
};

TEST(TrainLoop, TellsEventsInOrder) {
  TinyRun run(3, true);
  run_training_loop(run.parts);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin", "step 1", "step 2", "step 3", "run_end 0 after 3"));
  EXPECT_EQ(run.recorder.begin.last_step, 3);
  ASSERT_EQ(run.recorder.steps.size(), 3u);
  EXPECT_EQ(run.recorder.steps[0].is_last, 0);
  EXPECT_EQ(run.recorder.steps[2].is_last, 1);
}

TEST(TrainLoop, StepEventsHoldTheStepsFigures) {
  TinyRun run(2, true);
  run_training_loop(run.parts);
  const titan_step_event& first = run.recorder.steps[0];
  const titan_step_event& second = run.recorder.steps[1];
  EXPECT_TRUE(std::isfinite(first.loss));
  EXPECT_GT(first.grad_norm, 0);
  EXPECT_DOUBLE_EQ(first.lr, 0.01);
  EXPECT_EQ(first.num_tokens, 10);
  EXPECT_EQ(first.total_tokens, 10);
  EXPECT_EQ(second.total_tokens, 20);
  EXPECT_GT(first.forward_seconds, 0);
  EXPECT_GE(first.step_seconds,
            first.data_seconds + first.forward_seconds + first.backward_seconds + first.optimizer_seconds);
  EXPECT_GE(second.elapsed_seconds, first.elapsed_seconds);
}

TEST(TrainLoop, ValidatesAfterTheFirstAndEveryFreqthStep) {
  TinyRun run(5, true);
  Validator validator(*run.tree, std::make_unique<ListSource>(std::vector{tiny_batch(3, 5, 7)}), {.freq = 2});
  run.parts.validator = &validator;
  run_training_loop(run.parts);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin", "step 1", "validation 1", "step 2", "validation 2", "step 3",
                                             "step 4", "validation 4", "step 5", "run_end 0 after 5"));
  EXPECT_EQ(run.recorder.validations[0].num_tokens, 15);
  EXPECT_NE(run.recorder.validations[0].loss, run.recorder.validations[1].loss);
}

TEST(TrainLoop, EndsEarlyWithAWarningWhenTheDataEnds) {
  const LogLines log;
  TinyRun run(5, false);
  run_training_loop(run.parts);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin", "step 1", "step 2", "run_end 0 after 2"));
  EXPECT_THAT(log.with("the data ended"), ElementsAre(AllOf(HasSubstr("warning"), HasSubstr("step 2 of 5"))));
}

TEST(TrainLoop, TheEndOfDataMayBeAnError) {
  TinyRun run(5, false);
  run.parts.end_of_data_is_error = true;
  EXPECT_THROW(run_training_loop(run.parts), DataError);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin", "step 1", "step 2", "run_end 65 after 2"));
  EXPECT_THAT(run.recorder.end_message, HasSubstr("dataloader.end_of_data is error: steps done 2"));
}

TEST(TrainLoop, ARunThatGoesOnCountsOn) {
  TinyRun run(4, true);
  run.trainer.go_on_from(2, 2, 20);
  run.parts.begin.first_step = 3;
  run_training_loop(run.parts);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin", "step 3", "step 4", "run_end 0 after 4"));
  EXPECT_EQ(run.recorder.steps.back().total_tokens, 40);
}

TEST(TrainLoop, TellsWhyARunFailed) {
  TinyRun run(3, true);
  run.tree->find_parameter("output.weight")->storage.detach().fill_(std::nan(""));
  EXPECT_THROW(run_training_loop(run.parts), NonFiniteError);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin", "run_end 80 after 0"));
  EXPECT_THAT(run.recorder.end_message, HasSubstr("loss is not finite"));
}

TEST(TrainLoop, TellsTheSignalOfAnInterruption) {
  StopFlag stop;
  TinyRun run(3, true, &stop);
  stop.request(SIGTERM);
  EXPECT_THROW(run_training_loop(run.parts), Interrupted);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin", "run_end 143 after 0"));
}

TEST(TrainLoop, AnObserversFailureDoesNotStopTraining) {
  const LogLines log;
  TinyRun run(3, true);
  run.recorder.fail_at = "run_begin";
  run_training_loop(run.parts);
  EXPECT_EQ(run.trainer.steps_done(), 3);
  EXPECT_THAT(run.recorder.seen, ElementsAre("run_begin"));
}

}  // namespace
}  // namespace titan::train
