#include "core/train/nondeterminism.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/put.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "core/base/error.hpp"
#include "core/train/determinism.hpp"
#include "core/train/torch_warnings.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// libtorch has no deterministic kernel for it, on the CPU neither. Gives the tensor back.
at::Tensor put_in_place(const at::Tensor& tensor) {
  return at::put(tensor, at::arange(tensor.numel()), tensor.reshape(-1), /*accumulate=*/false);
}

struct PutsInBackward : torch::autograd::Function<PutsInBackward> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x.mul(1); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradients) {
    return {put_in_place(gradients[0])};
  }
};

/// A tree of the tiny model one of whose modules does it, and a trainer.
class Nondeterminism : public ::testing::Test {
 protected:
  void start(bool warns_only, std::size_t block, bool in_backward) {
    scope_.emplace(true, warns_only);
    tree_ = tiny::tiny_tree();
    watch_.emplace(*tree_);
    tree_->attach(tree_->chain()[block], 0, [=](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
      nn::Tensors out = next(frame, in);
      out[0] = in_backward ? PutsInBackward::apply(out[0]) : put_in_place(out[0]);
      return out;
    });
    source_.emplace(std::vector{tiny::tiny_batch(2, 5, 1)}, /*repeat=*/true);
    trainer_.emplace(*tree_, *source_, tiny::tiny_optimizer(*tree_), tiny::constant_schedule(), Trainer::Options{});
  }

  std::string refusal() {
    try {
      trainer_->step();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  }

  TorchWarningsToLog warnings_;
  std::optional<DeterministicScope> scope_;
  std::unique_ptr<nn::Tree> tree_;
  std::optional<NondeterminismWatch> watch_;
  std::optional<tiny::ListSource> source_;
  std::optional<Trainer> trainer_;
};

TEST_F(Nondeterminism, IsRefusedWithItsModuleInForward) {
  start(false, 1, false);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("debug.deterministic is on"), HasSubstr("kernel: put_, output, in forward"),
                               HasSubstr("--debug.deterministic_warn_only")));
}

TEST_F(Nondeterminism, IsRefusedWithItsModuleInBackward) {
  start(false, 0, true);
  EXPECT_THAT(refusal(), HasSubstr("kernel: put_, tok_embeddings, in backward"));
}

TEST_F(Nondeterminism, IsWarnedOfOnceForEachModuleAndDirection) {
  start(true, 1, false);
  tree_->attach(tree_->chain()[0], 0, [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    out[0] = PutsInBackward::apply(out[0]);
    return out;
  });
  const tiny::LogLines log;
  for (int step = 0; step < 3; ++step) trainer_->step();
  EXPECT_THAT(log.with("no deterministic kernel"),
              ElementsAre(HasSubstr("put_, output, in forward"), HasSubstr("put_, output, in backward"),
                          HasSubstr("put_, tok_embeddings, in backward")));
  EXPECT_THAT(log.with("[libtorch]"), ElementsAre()) << "libtorch's own text is not repeated";
}

TEST_F(Nondeterminism, LeavesOtherErrorsAlone) {
  start(false, 1, false);
  tree_->attach(tree_->chain()[0], 0,
                [](nn::Frame&, nn::Next, const nn::Tensors&) -> nn::Tensors { throw DataError("something else"); });
  EXPECT_THROW(trainer_->step(), DataError);
}

}  // namespace
}  // namespace titan::train
