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
using tiny::ListSource;
using torch::autograd::AnomalyMode;

std::string failure(nn::Tree& tree) {
  ListSource source({tiny::tiny_batch(4, 20, 3)});
  Trainer trainer(tree, source, tiny::tiny_optimizer(tree), tiny::constant_schedule(), {});
  const AnomalyScope scope(true);
  const TorchWarningsToLog warnings;
  const tiny::LogLines log;
  try {
    trainer.step();
  } catch (const NonFiniteError& error) {
    return error.what();
  }
  return "none";
}

TEST(Anomaly, NamesTheModuleWhoseOutputIsNotFinite) {
  const auto tree = tiny::tiny_tree();
  watch_for_anomalies(*tree);
  tree->find_parameter("output.weight")->storage.detach().view({-1})[0].fill_(std::nan(""));
  EXPECT_THAT(failure(*tree), AllOf(HasSubstr("the output of a module"), HasSubstr(": output")));
}

TEST(Anomaly, NamesTheModuleThatGetsAGradientThatIsNotFinite) {
  const auto tree = tiny::tiny_tree();
  watch_for_anomalies(*tree);
  // Hooks run in order of registration, and the watcher's is innermost: spoil the gradient one module later.
  tree->attach(tree->chain()[1], 0, [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    const at::Tensor spoilt = in[0].mul(1.0);
    spoilt.register_hook([](const at::Tensor& gradient) { return gradient.mul(INFINITY); });
    return next(frame, {spoilt});
  });
  EXPECT_THAT(failure(*tree), AllOf(HasSubstr("the gradient of a module's output"), HasSubstr(": tok_embeddings")));
}

TEST(Anomaly, NamesTheBackwardFunctionThatMadeANaN) {
  const auto tree = tiny::tiny_tree();
  tree->attach(tree->chain()[0], 0, [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    // The square root's gradient at 0 is infinite, times 0 it is NaN.
    out[0] = out[0].add(out[0].mul(0.0).sqrt());
    return out;
  });
  EXPECT_THAT(failure(*tree), AllOf(HasSubstr("backward function"), HasSubstr("'MulBackward")));
}

TEST(Anomaly, LeavesAFiniteStepAlone) {
  const auto tree = tiny::tiny_tree();
  watch_for_anomalies(*tree);
  EXPECT_EQ(failure(*tree), "none");
}

TEST(Anomaly, TheModeHoldsForItsScope) {
  ASSERT_FALSE(AnomalyMode::is_enabled());
  {
    const AnomalyScope scope(true);
    EXPECT_TRUE(AnomalyMode::is_enabled());
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
  const AnomalyScope off(false);
  EXPECT_FALSE(AnomalyMode::is_enabled());
}

}  // namespace
}  // namespace titan::train
