#include "core/train/anomaly.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/train/torch_warnings.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using torch::autograd::AnomalyMode;

/// A tree of the tiny model whose steps are watched.
class AnomalyTest : public ::testing::Test {
 protected:
  AnomalyTest() : tree_(tiny::tiny_tree()), watch_(*tree_) {}

  void attach(std::size_t block, nn::Around around) { tree_->attach(tree_->chain()[block], 0, std::move(around)); }

  std::string failure_of_step() {
    tiny::ListSource source({tiny::tiny_batch(4, 20, 3)});
    Trainer trainer(*tree_, source, tiny::tiny_optimizer(*tree_), tiny::constant_schedule(), {.anomalies = &watch_});
    const TorchWarningsToLog warnings;
    const tiny::LogLines log;
    try {
      trainer.step();
    } catch (const NonFiniteError& error) {
      return error.what();
    }
    return "none";
  }

  std::unique_ptr<nn::Tree> tree_;
  AnomalyWatch watch_;
};

TEST_F(AnomalyTest, NamesTheModuleWhoseOutputIsNotFinite) {
  tree_->find_parameter("output.weight")->storage.detach().view({-1})[0].fill_(std::nan(""));
  EXPECT_THAT(failure_of_step(), AllOf(HasSubstr("the output of a module"), HasSubstr(": output")));
}

TEST_F(AnomalyTest, NamesTheModuleThatGetsAGradientThatIsNotFinite) {
  attach(1, [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    const at::Tensor spoilt = in[0].mul(1.0);
    spoilt.register_hook([](const at::Tensor& gradient) { return gradient.mul(INFINITY); });
    return next(frame, {spoilt});
  });
  EXPECT_THAT(failure_of_step(), AllOf(HasSubstr("the gradient of a module's output"), HasSubstr(": tok_embeddings")));
}

TEST_F(AnomalyTest, NamesTheModuleAndTheFunctionThatMadeANaNInBackward) {
  attach(1, [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    // The square root's gradient at 0 is infinite, times 0 it is NaN.
    return next(frame, {in[0].add(in[0].mul(0.0).sqrt())});
  });
  EXPECT_THAT(failure_of_step(), AllOf(HasSubstr("in the backward of a module: output"), HasSubstr("'MulBackward")));
}

TEST_F(AnomalyTest, LeavesAFiniteStepAlone) { EXPECT_EQ(failure_of_step(), "none"); }

TEST(AnomalyWatch, HoldsTheModeWhileItLives) {
  ASSERT_FALSE(AnomalyMode::is_enabled());
  const auto tree = tiny::tiny_tree();
  {
    const AnomalyWatch watch(*tree);
    EXPECT_TRUE(AnomalyMode::is_enabled());
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
}

}  // namespace
}  // namespace titan::train
