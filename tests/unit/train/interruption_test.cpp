#include "core/train/interruption.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "core/base/error.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

/// A trainer that does not look at the flag itself, over a tree that does.
class InterruptionTest : public ::testing::Test {
 protected:
  InterruptionTest()
      : tree_(tiny::tiny_tree()),
        source_({tiny::tiny_batch(2, 5, 1)}),
        trainer_(*tree_, source_, tiny::tiny_optimizer(*tree_), tiny::constant_schedule(), {}),
        before_(tiny::weights(*tree_)) {
    stop_between_blocks(*tree_, stop_);
  }

  /// Runs `around` about a block's call, inside of the watch.
  void attach(std::size_t block, nn::Around around) { tree_->attach(tree_->chain()[block], 0, std::move(around)); }

  int signal_of_step() {
    try {
      trainer_.step();
    } catch (const Interrupted& interruption) {
      return interruption.signal();
    }
    return 0;
  }
  void expect_unchanged_weights() const { EXPECT_EQ(tiny::largest_difference(before_, tiny::weights(*tree_)), 0.0); }

  StopFlag stop_;
  std::unique_ptr<nn::Tree> tree_;
  tiny::ListSource source_;
  Trainer trainer_;
  std::vector<at::Tensor> before_;
};

TEST_F(InterruptionTest, AStepWithoutARequestRuns) {
  EXPECT_EQ(signal_of_step(), 0);
  EXPECT_EQ(trainer_.steps_done(), 1);
}

TEST_F(InterruptionTest, StopsForwardBeforeTheNextBlock) {
  bool reached = false;
  attach(0, [&](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    stop_.request(SIGINT);
    return next(frame, in);
  });
  attach(1, [&](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    reached = true;
    return next(frame, in);
  });
  EXPECT_EQ(signal_of_step(), SIGINT);
  EXPECT_FALSE(reached);
  expect_unchanged_weights();
}

TEST_F(InterruptionTest, StopsBackwardBeforeTheNextBlock) {
  bool reached = false;
  attach(1, [&](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    in[0].register_hook([&](const at::Tensor&) { reached = true; });
    nn::Tensors out = next(frame, in);
    out[0].register_hook([&](const at::Tensor&) { stop_.request(SIGTERM); });
    return out;
  });
  EXPECT_EQ(signal_of_step(), SIGTERM);
  EXPECT_FALSE(reached);
  expect_unchanged_weights();
}

}  // namespace
}  // namespace titan::train
