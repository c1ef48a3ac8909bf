#include "core/train/validator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "core/base/error.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using tiny::ListSource;
using tiny::tiny_batch;

Validator make(nn::Tree& tree, std::vector<data::Batch> batches, Validator::Options options,
               const StopFlag* stop = nullptr) {
  return Validator(tree, std::make_unique<ListSource>(std::move(batches)), options, stop);
}

TEST(Validator, FiresAtTheFirstStepAndEveryFreqth) {
  const auto tree = tiny::tiny_tree();
  const Validator validator = make(*tree, {}, {.freq = 5});
  std::vector<std::int64_t> due;
  for (std::int64_t step = 1; step <= 12; ++step) {
    if (validator.is_due(step)) due.push_back(step);
  }
  EXPECT_EQ(due, (std::vector<std::int64_t>{1, 5, 10}));
}

TEST(Validator, MeasuresTheLossThatTrainingWouldReport) {
  const auto tree = tiny::tiny_tree();
  const data::Batch whole = tiny_batch(4, 5, 3);
  data::Batch first = tiny::rows_of(whole, 0, 1);
  const data::Batch second = tiny::rows_of(whole, 1, 4);
  const ValidationResult result = make(*tree, {first, second}, {}).run();
  ListSource source({whole});
  Trainer trainer(*tree, source, tiny::tiny_optimizer(*tree), tiny::constant_schedule(), {});
  EXPECT_NEAR(result.loss, trainer.step()->loss, 1e-14);
  EXPECT_EQ(result.num_tokens, 20);
}

TEST(Validator, EachPassReadsTheSameBatches) {
  const auto tree = tiny::tiny_tree();
  Validator validator =
      make(*tree, {tiny_batch(2, 5, 1), tiny_batch(2, 5, 2), tiny_batch(2, 5, 3)}, {.num_batches = 2});
  const ValidationResult first = validator.run();
  EXPECT_EQ(first.num_tokens, 20);
  EXPECT_EQ(validator.run().loss, first.loss);
}

TEST(Validator, LeavesNoGradientsAndNoChange) {
  const auto tree = tiny::tiny_tree();
  const auto before = tiny::weights(*tree);
  make(*tree, {tiny_batch(2, 5, 1)}, {}).run();
  for (const auto& parameter : tree->parameters()) {
    EXPECT_FALSE(parameter->compute.grad().defined());
    EXPECT_FALSE(parameter->gradient.defined());
  }
  EXPECT_EQ(tiny::largest_difference(before, tiny::weights(*tree)), 0.0);
}

TEST(Validator, SkipsPaddingAndRefusesNothingElse) {
  const auto tree = tiny::tiny_tree();
  data::Batch padding = tiny_batch(2, 5, 1);
  tiny::ignore_labels(padding, 5);
  const ValidationResult result = make(*tree, {tiny_batch(2, 5, 2), padding}, {}).run();
  EXPECT_EQ(result.num_tokens, 10);
  EXPECT_THROW(make(*tree, {padding}, {}).run(), DataError);
  EXPECT_THROW(make(*tree, {}, {}).run(), DataError);
}

TEST(Validator, StopsOnALossThatIsNotFinite) {
  const auto tree = tiny::tiny_tree();
  tree->find_parameter("output.weight")->storage.detach().fill_(std::nan(""));
  EXPECT_THROW(make(*tree, {tiny_batch(2, 5, 2)}, {}).run(), NonFiniteError);
}

TEST(Validator, StopsOnRequest) {
  const auto tree = tiny::tiny_tree();
  StopFlag stop;
  stop.request(SIGINT);
  EXPECT_THROW(make(*tree, {tiny_batch(2, 5, 2)}, {}, &stop).run(), Interrupted);
}

}  // namespace
}  // namespace titan::train
