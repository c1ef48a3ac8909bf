#include "core/train/guards.hpp"

#include <ATen/core/Tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/train/trainer.hpp"
#include "tests/support/function_guard.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FunctionGuard;
using ::testing::HasSubstr;
using testing::require;

/// A trainer of the tiny model whose steps guards watch.
struct Guarded {
  explicit Guarded(std::vector<FunctionGuard*> made, std::int64_t num_micro_batches = 1,
                   Strategies* strategies = nullptr)
      : guards(tiny::error_host(), plugins(made)),
        tree(tiny::tiny_tree()),
        source({tiny::tiny_batch(2, 5, 1)}, /*repeat=*/true),
        trainer(*tree, source, tiny::tiny_optimizer(*tree), tiny::constant_schedule(),
                {.num_micro_batches = num_micro_batches, .strategies = strategies, .guards = &guards}) {}

  static std::vector<PluginInterface<titan_guard_v1>> plugins(const std::vector<FunctionGuard*>& made) {
    std::vector<PluginInterface<titan_guard_v1>> found;
    for (FunctionGuard* guard : made) found.push_back(guard->plugin(concat("guard", found.size() + 1)));
    return found;
  }

  template <class Failure>
  std::string failure() {
    try {
      trainer.step();
    } catch (const Failure& error) {
      return error.what();
    }
    return "no failure of that kind";
  }

  Guards guards;
  std::unique_ptr<nn::Tree> tree;
  tiny::ListSource source;
  Trainer trainer;
};

/// A guard that writes down when it stands around a pass.
FunctionGuard noting(std::vector<std::string>& seen, const std::string& name) {
  FunctionGuard guard;
  guard.around = [&seen, name](const titan_pass& pass) {
    double loss_sum = 0;
    seen.push_back(concat(name, " in ", pass.index));
    require(pass.run(&pass, &loss_sum));
    seen.push_back(concat(name, loss_sum > 0 ? " out" : " without a loss"));
  };
  return guard;
}

TEST(Guards, StandInsideEachOtherInOrder) {
  std::vector<std::string> seen;
  FunctionGuard first = noting(seen, "a"), second = noting(seen, "b");
  Guarded run({&first, &second}, 2);
  run.trainer.step();
  EXPECT_THAT(seen, ElementsAre("a in 0", "b in 0", "b out", "a out", "a in 1", "b in 1", "b out", "a out"));
}

TEST(Guards, APassKeepsTheKindOfItsErrors) {
  std::vector<std::string> seen;
  FunctionGuard guard = noting(seen, "a");
  Guarded run({&guard});
  run.tree->attach(run.tree->chain()[1], 0, [](nn::Frame&, nn::Next, const nn::Tensors&) -> nn::Tensors {
    throw Interrupted(15, "stopped in the middle");
  });
  EXPECT_THAT(run.failure<Interrupted>(), HasSubstr("stopped in the middle"));
}

TEST(Guards, ThatMisuseAPassAreNamed) {
  FunctionGuard idle, twice, late;
  idle.around = [](const titan_pass&) {};
  twice.around = [](const titan_pass& pass) {
    double loss = 0;
    require(pass.run(&pass, &loss));
    require(pass.run(&pass, &loss));
  };
  late.around = [](const titan_pass& pass) {
    double loss = 0;
    require(pass.run(&pass, &loss));
    if (pass.index == 1) require(pass.rewind(&pass));
  };
  EXPECT_THAT(Guarded({&idle}).failure<PluginError>(), HasSubstr("did not run a step's pass: step 1"));
  EXPECT_THAT(Guarded({&twice}).failure<PluginError>(), HasSubstr("must be rewound before it runs again"));
  EXPECT_THAT(Guarded({&late}, 2).failure<PluginError>(), HasSubstr("first pass can be rewound: pass 1 of step 1"));
}

/// A guard that judges each step alike.
FunctionGuard judging(std::int32_t decision, std::int32_t code, std::string text) {
  FunctionGuard guard;
  guard.judge = [=](const titan_outcome&, titan_judgement& out) {
    out.decision = decision;
    out.code = code;
    // Lives as long as the guard: it is a copy in the function.
    out.text = {text.data(), text.size()};
  };
  return guard;
}

TEST(Guards, TheGravestJudgementCounts) {
  FunctionGuard skip = judging(TITAN_DECISION_SKIP, 0, "not this one");
  FunctionGuard stop = judging(TITAN_DECISION_STOP, TITAN_ERROR_INTERNAL, "all is lost");
  FunctionGuard also = judging(TITAN_DECISION_STOP, TITAN_ERROR_NON_FINITE, "and more");
  Guarded run({&skip, &stop, &also});
  const auto before = tiny::weights(*run.tree);
  EXPECT_THAT(run.failure<PluginError>(),
              AllOf(HasSubstr("stopped before the update, weights are unchanged: step 1: all is lost; and more"),
                    ::testing::Not(HasSubstr("not this one"))));
  EXPECT_EQ(tiny::largest_difference(before, tiny::weights(*run.tree)), 0.0);
}

TEST(Guards, AnUpdateThatIsLeftOutCounts) {
  FunctionGuard skip = judging(TITAN_DECISION_SKIP, 0, "not this one");
  Guarded run({&skip});
  const tiny::LogLines log;
  const auto before = tiny::weights(*run.tree);
  ASSERT_TRUE(run.trainer.step());
  EXPECT_EQ(tiny::largest_difference(before, tiny::weights(*run.tree)), 0.0);
  EXPECT_EQ(run.trainer.steps_done(), 1);
  EXPECT_EQ(run.trainer.schedule_step(), 1);
  EXPECT_THAT(log.with("left out"), ElementsAre(HasSubstr("step 1: not this one")));
}

TEST(Guards, WithoutADecisionAreNamed) {
  FunctionGuard lost = judging(7, 0, "");
  EXPECT_THAT(Guarded({&lost}).failure<PluginError>(), HasSubstr("[guard1] judge gave no decision: number 7"));
}

TEST(Guards, ASecondRunIsMadeForAStepThatIsNotFinite) {
  std::vector<double> losses;
  FunctionGuard guard;
  guard.more_duties = TITAN_DUTY_RERUN;
  guard.judge = [&](const titan_outcome& outcome, titan_judgement&) {
    losses.push_back(outcome.loss);
    require(outcome.rerun(&outcome));
    losses.push_back(outcome.loss);
  };
  Guarded run({&guard});
  bool spoils = false;
  run.tree->attach(run.tree->chain()[1], 0, [&](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    if (std::exchange(spoils, false)) out[0] = out[0].mul(NAN);
    return out;
  });
  run.trainer.step();
  EXPECT_TRUE(losses.empty()) << "nobody asks of a finite step";
  spoils = true;
  ASSERT_TRUE(run.trainer.step()) << "the second run is finite, and counts";
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_TRUE(std::isnan(losses[0]));
  EXPECT_TRUE(std::isfinite(losses[1]));
}

/// A strategy that hears of updates and cannot forget a step.
Strategies counting_strategies() {
  static const titan_strategy_v1 table = [] {
    titan_strategy_v1 made{};
    made.struct_size = sizeof made;
    made.updated = [](void*) -> titan_error* { return nullptr; };
    return made;
  }();
  return {tiny::error_host(), {{"counts", nullptr, &table}}};
}

TEST(Guards, OfAStepThatIsNotFiniteThatIsToldBeforeWhatIsRefused) {
  FunctionGuard looks = judging(TITAN_DECISION_CONTINUE, 0, "");
  looks.judge = [](const titan_outcome& outcome, titan_judgement&) { require(outcome.rerun(&outcome)); };
  FunctionGuard skips = judging(TITAN_DECISION_SKIP, 0, "not this one");
  for (FunctionGuard* guard : {&looks, &skips}) {
    Strategies strategies = counting_strategies();
    Guarded run({guard}, 1, &strategies);
    run.tree->find_parameter("output.weight")->storage.detach().fill_(NAN);
    EXPECT_THAT(run.failure<NonFiniteError>(),
                AllOf(HasSubstr("the loss is not finite, stopped before the update, weights are unchanged: step 1"),
                      HasSubstr("no discard(): plugin counts")));
  }
}

TEST(Guards, OfAFiniteStepOnlyTheRefusalIsTold) {
  FunctionGuard skips = judging(TITAN_DECISION_SKIP, 0, "not this one");
  Strategies strategies = counting_strategies();
  EXPECT_THAT(Guarded({&skips}, 1, &strategies).failure<ConfigError>(),
              HasSubstr("[train] a step cannot be run again"));
}

TEST(Guards, WhatNobodyStopsEndsAsWithoutGuards) {
  FunctionGuard calm = judging(TITAN_DECISION_CONTINUE, 0, "");
  Guarded run({&calm});
  run.tree->find_parameter("output.weight")->storage.detach().fill_(NAN);
  EXPECT_THAT(run.failure<NonFiniteError>(), HasSubstr("the loss is not finite"));
}

}  // namespace
}  // namespace titan::train
