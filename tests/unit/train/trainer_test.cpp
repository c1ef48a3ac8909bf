#include "core/train/trainer.hpp"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "core/base/error.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tiny::ListSource;
using tiny::tiny_batch;
using tiny::tiny_tree;

/// A tree, its data and its trainer.
struct TinyRun {
  explicit TinyRun(std::vector<data::Batch> batches, Trainer::Options options = {}, nn::Precision precision = kFloat64,
                   const StopFlag* stop = nullptr)
      : tree(tiny_tree(precision)),
        source(std::move(batches)),
        trainer(*tree, source, tiny::tiny_optimizer(*tree), tiny::constant_schedule(), options, stop) {}

  static constexpr nn::Precision kFloat64{at::kDouble, at::kDouble, at::kDouble};
  std::unique_ptr<nn::Tree> tree;
  ListSource source;
  Trainer trainer;
};

void poison(nn::Tree& tree, const std::string& name, double value) {
  tree.find_parameter(name)->storage.detach().view({-1})[0].fill_(value);
  tree.refresh_compute();
}

template <class Failure>
std::string failure_of(Trainer& trainer) {
  try {
    trainer.step();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure of that kind";
}

TEST(Trainer, ReportsTheLossBeforeTheUpdate) {
  const data::Batch batch = tiny_batch(2, 5, 3);
  TinyRun run({batch, batch});
  const auto first = run.trainer.step();
  const auto second = run.trainer.step();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->step, 1);
  EXPECT_EQ(second->step, 2);
  EXPECT_EQ(first->num_tokens, 10);
  EXPECT_EQ(first->num_valid, 10);
  EXPECT_DOUBLE_EQ(first->lr, 0.01);
  EXPECT_LT(second->loss, first->loss);
  EXPECT_EQ(run.trainer.steps_done(), 2);
}

TEST(Trainer, AccumulationEqualsOneBigBatch) {
  data::Batch big = tiny_batch(6, 5, 3);
  // Rows with unequal numbers of valid labels: a mean of means would differ.
  for (std::size_t i = 0; i < 9; ++i) big.labels[i] = tiny::kIgnored;
  big.num_valid -= 9;
  TinyRun whole({big});
  TinyRun parts({tiny::rows_of(big, 0, 2), tiny::rows_of(big, 2, 3), tiny::rows_of(big, 3, 6)},
                {.num_micro_batches = 3});
  const auto one = whole.trainer.step();
  const auto three = parts.trainer.step();
  ASSERT_TRUE(one && three);
  EXPECT_EQ(three->num_valid, one->num_valid);
  EXPECT_NEAR(three->loss, one->loss, 1e-14);
  EXPECT_NEAR(three->grad_norm, one->grad_norm, 1e-14);
  EXPECT_LT(tiny::largest_difference(tiny::weights(*whole.tree), tiny::weights(*parts.tree)), 1e-12);
}

TEST(Trainer, IgnoredTokensCountForNothing) {
  data::Batch padded = tiny_batch(1, 8, 3);
  for (std::size_t i = 5; i < 8; ++i) padded.labels[i] = tiny::kIgnored;
  padded.num_valid = 5;
  data::Batch plain = padded;
  plain.length = 5;
  for (auto* values : {&plain.tokens, &plain.labels, &plain.positions}) values->resize(5);
  TinyRun a({padded});
  TinyRun b({plain});
  EXPECT_NEAR(a.trainer.step()->loss, b.trainer.step()->loss, 1e-14);
  EXPECT_LT(tiny::largest_difference(tiny::weights(*a.tree), tiny::weights(*b.tree)), 1e-12);
}

TEST(Trainer, AnAllIgnoredMicroBatchAmongOthersAddsNothing) {
  data::Batch ignored = tiny_batch(2, 5, 9);
  tiny::ignore_labels(ignored, 5);
  const data::Batch useful = tiny_batch(2, 5, 3);
  TinyRun with({useful, ignored}, {.num_micro_batches = 2});
  TinyRun without({useful});
  EXPECT_NEAR(with.trainer.step()->loss, without.trainer.step()->loss, 1e-14);
  EXPECT_LT(tiny::largest_difference(tiny::weights(*with.tree), tiny::weights(*without.tree)), 1e-12);
}

TEST(Trainer, AStepWithoutValidLabelsStopsClearly) {
  data::Batch ignored = tiny_batch(2, 5, 9);
  tiny::ignore_labels(ignored, 5);
  TinyRun run({ignored});
  const auto before = tiny::weights(*run.tree);
  EXPECT_THAT(failure_of<DataError>(run.trainer), AllOf(HasSubstr("labels are ignored"), HasSubstr("step 1")));
  EXPECT_EQ(tiny::largest_difference(before, tiny::weights(*run.tree)), 0.0);
}

TEST(Trainer, ANonFiniteLossStopsBeforeTheUpdate) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    TinyRun run({tiny_batch(4, 20, 3), tiny_batch(4, 20, 4)});
    ASSERT_TRUE(run.trainer.step());
    poison(*run.tree, "output.weight", value);
    const auto before = tiny::weights(*run.tree);
    EXPECT_THAT(failure_of<NonFiniteError>(run.trainer), AllOf(HasSubstr("loss"), HasSubstr("step 2")));
    const auto after = tiny::weights(*run.tree);
    EXPECT_TRUE(before[0].equal(after[0]));
    EXPECT_TRUE(before[1].view({-1}).slice(0, 1).equal(after[1].view({-1}).slice(0, 1)));
    EXPECT_EQ(run.trainer.steps_done(), 1);
  }
}

TEST(Trainer, ANonFiniteGradientStopsBeforeTheUpdateAndNamesTheParameter) {
  TinyRun run({tiny_batch(2, 5, 3)});
  // The loss stays finite; the gradient that reaches the embedding does not.
  run.tree->attach(run.tree->chain()[0], 0, [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    out[0].register_hook([](const at::Tensor& gradient) { return gradient.mul(std::nan("")); });
    return out;
  });
  const auto before = tiny::weights(*run.tree);
  EXPECT_THAT(failure_of<NonFiniteError>(run.trainer), AllOf(HasSubstr("gradient norm"), HasSubstr("step 1"),
                                                             HasSubstr("1 of 2"), HasSubstr("tok_embeddings.weight")));
  EXPECT_EQ(tiny::largest_difference(before, tiny::weights(*run.tree)), 0.0);
}

TEST(Trainer, ClipsToTheGlobalNorm) {
  TinyRun run({tiny_batch(2, 5, 3)}, {.max_norm = 1e-3});
  const auto result = run.trainer.step();
  EXPECT_GT(result->grad_norm, 1e-2);
  // The first moments are this share of what the optimizer saw.
  const auto& group = run.trainer.optimizer().groups().front();
  double seen = 0, kept = 0;
  for (std::size_t i = 0; i < group.states.size(); ++i) {
    seen += group.states[i].exp_avg.to(at::kDouble).square().sum().item<double>();
    kept += group.parameters[i]->gradient.to(at::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(std::sqrt(seen) / (1 - group.options.beta1), 1e-3, 1e-6);
  EXPECT_NEAR(std::sqrt(kept), result->grad_norm, 1e-6) << "gradients stay as they are";
}

TEST(Trainer, TwoRunsAreBitIdentical) {
  std::vector<data::Batch> batches;
  for (std::uint64_t i = 0; i < 4; ++i) batches.push_back(tiny_batch(4, 64, i));
  for (const auto& precision : {TinyRun::kFloat64, nn::Precision{}}) {
    TinyRun a(batches, {}, precision);
    TinyRun b(batches, {}, precision);
    for (int step = 0; step < 4; ++step) {
      const auto x = a.trainer.step();
      const auto y = b.trainer.step();
      EXPECT_EQ(x->loss, y->loss);
      EXPECT_EQ(x->grad_norm, y->grad_norm);
    }
    EXPECT_EQ(tiny::largest_difference(tiny::weights(*a.tree), tiny::weights(*b.tree)), 0.0);
  }
}

TEST(Trainer, MixedPrecisionUpdatesTheStorage) {
  const nn::Precision mixed{at::kFloat, at::kBFloat16, at::kFloat};
  TinyRun run({tiny_batch(2, 5, 3)}, {}, mixed);
  const auto before = tiny::weights(*run.tree);
  ASSERT_TRUE(run.trainer.step());
  for (const auto& parameter : run.tree->parameters()) {
    EXPECT_EQ(parameter->storage.scalar_type(), at::kFloat);
    EXPECT_EQ(parameter->gradient.scalar_type(), at::kFloat);
    EXPECT_TRUE(parameter->compute.equal(parameter->storage.detach().to(at::kBFloat16)));
  }
  EXPECT_GT(tiny::largest_difference(before, tiny::weights(*run.tree)), 0.0);
}

TEST(Trainer, EndsWhenTheDataCannotFillAStep) {
  TinyRun run({tiny_batch(2, 5, 1), tiny_batch(2, 5, 2), tiny_batch(2, 5, 3)}, {.num_micro_batches = 2});
  EXPECT_TRUE(run.trainer.step());
  const auto before = tiny::weights(*run.tree);
  EXPECT_FALSE(run.trainer.step());
  EXPECT_EQ(run.trainer.steps_done(), 1);
  EXPECT_EQ(tiny::largest_difference(before, tiny::weights(*run.tree)), 0.0);
}

TEST(Trainer, AStopRequestInterruptsBeforeTheUpdate) {
  StopFlag stop;
  TinyRun run({tiny_batch(2, 5, 1)}, {}, TinyRun::kFloat64, &stop);
  const auto before = tiny::weights(*run.tree);
  stop.request(SIGINT);
  EXPECT_THROW(run.trainer.step(), Interrupted);
  EXPECT_EQ(tiny::largest_difference(before, tiny::weights(*run.tree)), 0.0);
}

TEST(Trainer, RefusesAParameterThatForwardDoesNotUse) {
  nn::Tree tree;
  const auto used = tiny_tree();
  const auto embedding = tree.add_leaf(TITAN_MODULE_ROOT, "tok_embeddings", "titan.embedding", {});
  const auto spare = tree.add_leaf(TITAN_MODULE_ROOT, "spare", "titan.linear", {});
  const std::int64_t shape[] = {tiny::kVocabulary, tiny::kVocabulary};
  titan_parameter declaration{};
  declaration.struct_size = sizeof declaration;
  declaration.num_dims = 2;
  declaration.name = {"weight", 6};
  declaration.shape = shape;
  declaration.init = TITAN_INIT_CONSTANT;
  tree.add_parameter(embedding, declaration);
  tree.add_parameter(spare, declaration);
  tree.add_to_chain(embedding, 0);
  tree.set_loss(tree.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {}));
  tree.materialise(TinyRun::kFloat64, at::kCPU, 0);
  ListSource source({tiny_batch(1, 4, 0)});
  Trainer trainer(tree, source, tiny::tiny_optimizer(tree), tiny::constant_schedule(), {});
  EXPECT_THAT(failure_of<PluginError>(trainer), HasSubstr("spare.weight"));
}

TEST(Trainer, FollowsTheScheduleAndKeepsItsEnd) {
  optim::LrScheduleOptions options;
  options.training_steps = 4;
  options.warmup_steps = 2;
  options.min_lr_factor = 0.5;
  const auto tree = tiny_tree();
  ListSource source({tiny_batch(2, 5, 1)}, /*repeat=*/true);
  Trainer trainer(*tree, source, tiny::tiny_optimizer(*tree, 1.0), optim::LrSchedule(options), {});
  const tiny::LogLines log;
  std::vector<double> rates;
  for (int step = 0; step < 7; ++step) rates.push_back(trainer.step()->lr);
  EXPECT_THAT(rates, testing::Pointwise(testing::DoubleEq(), {0.5, 1.0, 1.0, 0.75, 0.5, 0.5, 0.5}));
  EXPECT_THAT(log.with("schedule has ended"), testing::ElementsAre(HasSubstr("step 5")));
}

TEST(Trainer, TimesEveryPart) {
  TinyRun run({tiny_batch(2, 5, 1)});
  const auto result = run.trainer.step();
  EXPECT_GT(result->seconds.forward, 0);
  EXPECT_GT(result->seconds.backward, 0);
  EXPECT_GT(result->seconds.optimizer, 0);
  EXPECT_GE(result->seconds.data, 0);
}

TEST(Trainer, AStopBetweenStepsLeavesTheDataWhereTheStepBegan) {
  StopFlag stop;
  TinyRun run({tiny_batch(1, 5, 1), tiny_batch(1, 5, 2), tiny_batch(1, 5, 3)}, {.stops_between_steps = true},
              TinyRun::kFloat64, &stop);
  run.trainer.step();
  EXPECT_EQ(run.trainer.data_state(), "1");
  stop.request(SIGTERM);
  EXPECT_THROW(run.trainer.step(), Interrupted);
  EXPECT_EQ(run.trainer.steps_done(), 1);
  EXPECT_EQ(run.trainer.data_state(), "1") << "the batch that was fetched comes again";
  EXPECT_EQ(run.source.state(), "2");
}

TEST(Trainer, TheScheduleMayBeginLaterThanTheSteps) {
  TinyRun run({tiny_batch(1, 5, 1)});
  run.trainer.go_on_from(7, 3, 100);
  EXPECT_EQ(run.trainer.schedule_step(), 3);
  EXPECT_EQ(run.trainer.step()->step, 8);
  EXPECT_EQ(run.trainer.schedule_step(), 4);
  EXPECT_EQ(run.trainer.total_tokens(), 105);
}

}  // namespace
}  // namespace titan::train
