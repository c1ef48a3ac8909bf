#include "plugins/parallel/activation_checkpoint/checkpointed_block.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tanh.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <atomic>
#include <memory>

#include "tests/unit/parallel/activation_checkpoint/checkpoint_model.hpp"

namespace titan::parallel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Kernels that really run: counted below everything that could answer in their place.
std::atomic<int> num_products{0}, num_attentions{0};

template <std::atomic<int>& kCount>
void count(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  ++kCount;
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::BackendSelect),
                     stack);
}

TORCH_LIBRARY_IMPL(aten, BackendSelect, library) {
  library.impl("mm", torch::CppFunction::makeFromBoxedFunction<&count<num_products>>());
  library.impl("_scaled_dot_product_flash_attention_for_cpu",
               torch::CppFunction::makeFromBoxedFunction<&count<num_attentions>>());
}

CheckpointModelOptions with(Mode mode, at::ScalarType dtype = at::kDouble) {
  CheckpointModelOptions options;
  options.mode = mode;
  options.dtype = dtype;
  return options;
}

using Gradients = std::map<std::string, at::Tensor>;

Gradients gradients(const CheckpointModelOptions& options) {
  at::set_num_threads(1);
  return CheckpointModel(options).gradients(token_rows(2, 6));
}

void expect_same_bits(const Gradients& found, const Gradients& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(found.at(name).equal(tensor)) << name;
}

/// What backward ends in.
std::string error_of(const CheckpointModelOptions& options) {
  try {
    gradients(options);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

struct Counts {
  int products, attentions;
  bool operator==(const Counts&) const = default;
};

Counts counts_of_backward(const CheckpointModelOptions& options) {
  at::set_num_threads(1);
  CheckpointModel model(options);
  const at::Tensor loss = model.loss(token_rows(2, 6));
  num_products = num_attentions = 0;
  loss.backward();
  return {num_products, num_attentions};
}

TEST(CheckpointedBlock, GradientsHaveTheBitsOfNoCheckpointing) {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const Gradients none = gradients(with(Mode::none, dtype));
    expect_same_bits(gradients(with(Mode::selective, dtype)), none);
    expect_same_bits(gradients(with(Mode::full, dtype)), none);
  }
}

TEST(CheckpointedBlock, ParametersAccumulateOverMicroBatches) {
  const auto accumulated = [](Mode mode) {
    CheckpointModel model(with(mode));
    for (const std::int64_t rows : {1, 3}) {
      model.loss(token_rows(rows, 5)).backward();
      model.tree().collect_gradients();
    }
    return model.gradients(token_rows(2, 4));
  };
  const Gradients none = accumulated(Mode::none);
  expect_same_bits(accumulated(Mode::selective), none);
  expect_same_bits(accumulated(Mode::full), none);
}

TEST(CheckpointedBlock, SeveralForwardsMayWaitForTheirBackwards) {
  const auto interleaved = [](Mode mode) {
    CheckpointModel model(with(mode));
    const at::Tensor first = model.loss(token_rows(1, 5)), second = model.loss(token_rows(2, 3));
    second.backward();
    first.backward();
    Gradients found;
    for (const auto& parameter : model.tree().parameters()) found[parameter->name] = parameter->compute.grad();
    return found;
  };
  const Gradients none = interleaved(Mode::none);
  expect_same_bits(interleaved(Mode::selective), none);
  expect_same_bits(interleaved(Mode::full), none);
}

// A layer has seven products and one attention; backward has two products for each product of forward.
TEST(CheckpointedBlock, RecomputesWhatItsModeSays) {
  const int layers = static_cast<int>(CheckpointModelOptions{}.layers), of_backward = 2 * (7 * layers + 1);
  EXPECT_EQ(counts_of_backward(with(Mode::none)), (Counts{of_backward, 0}));
  EXPECT_EQ(counts_of_backward(with(Mode::selective)), (Counts{of_backward + 3 * layers, 0}));
  EXPECT_EQ(counts_of_backward(with(Mode::full)), (Counts{of_backward + 7 * layers, layers}));
}

TEST(CheckpointedBlock, KeepsNothingWhereNothingIsRecorded) {
  CheckpointModel model(with(Mode::full));
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(model.loss(token_rows(1, 4)).requires_grad());
}

TEST(CheckpointedBlock, NamesTheOperatorThatIsNotTheForwards) {
  CheckpointModelOptions options = with(Mode::full);
  const auto calls = std::make_shared<int>(0);
  // The three layers' forwards, then the first recomputation.
  options.inside = [calls](const at::Tensor& x) { return ++*calls > 3 ? x.tanh() : x.sigmoid(); };
  EXPECT_THAT(error_of(options),
              AllOf(HasSubstr("recomputation differs from forward in layers.2"),
                    HasSubstr("was aten::sigmoid -> Double[2, 6, 24] in forward and is aten::tanh -> Double[2, 6, 24]"),
                    HasSubstr("activation_checkpoint.debug")));
}

TEST(CheckpointedBlock, NamesTheResultOfAnotherSize) {
  CheckpointModelOptions options = with(Mode::full);
  const auto calls = std::make_shared<int>(0);
  options.inside = [calls](const at::Tensor& x) {
    const at::Tensor part = x.narrow(1, 0, ++*calls > 3 ? 2 : 3);
    return x + part.sum();
  };
  EXPECT_THAT(error_of(options), AllOf(HasSubstr("Double[2, 3, 24] in forward"), HasSubstr("Double[2, 2, 24] in rec")));
}

TEST(CheckpointedBlock, NamesTheOperatorThatIsMissing) {
  CheckpointModelOptions options = with(Mode::full);
  options.checkpoint.recording.checks_operators = true;
  const auto calls = std::make_shared<int>(0);
  options.inside = [calls](const at::Tensor& x) { return ++*calls > 3 ? x : x.sigmoid(); };
  EXPECT_THAT(error_of(options), HasSubstr("was aten::sigmoid -> Double[2, 6, 24] in forward and is"));
}

TEST(CheckpointedBlock, ChecksNothingWhereNothingIsAskedFor) {
  CheckpointModelOptions options = with(Mode::full);
  options.checkpoint.recording.checks_operators = false;
  const auto calls = std::make_shared<int>(0);
  options.inside = [calls](const at::Tensor& x) { return ++*calls > 3 ? x.tanh() : x.sigmoid(); };
  EXPECT_EQ(error_of(options), "none");
}

TEST(CheckpointedBlock, SelectiveNeedsTheSameProductsWhateverIsChecked) {
  CheckpointModelOptions options = with(Mode::selective);
  options.checkpoint.recording.checks_operators = false;
  const auto calls = std::make_shared<int>(0);
  options.inside = [calls](const at::Tensor& x) {
    return ++*calls > 3 ? x + x.flatten(0, 1).t().mm(x.flatten(0, 1)).sum() : x;
  };
  EXPECT_THAT(error_of(options), HasSubstr("recomputation differs from forward in layers.2"));
}

TEST(CheckpointedBlock, NamesTheOperatorThatChangesAKeptResultInPlace) {
  CheckpointModelOptions options = with(Mode::selective);
  options.inside = [](const at::Tensor& x) { return x.add_(1); };  // the fifth product, which is kept
  EXPECT_THAT(error_of(options), HasSubstr("aten::add_.Scalar changes a result of aten::mm in place that is kept"));
  options.mode = Mode::full;
  EXPECT_EQ(error_of(options), "none");
}

TEST(CheckpointedBlock, NamesAKeptResultThatWasChangedAfterItsForward) {
  CheckpointModelOptions options = with(Mode::selective);
  std::vector<at::Tensor> products;
  options.inside = [&products](const at::Tensor& x) {
    products.push_back(x.flatten(0, 1).t().mm(x.flatten(0, 1)).mm(x.flatten(0, 1).t()).detach());
    return x + products.back().sum();
  };
  CheckpointModel model(options);
  const at::Tensor loss = model.loss(token_rows(2, 6));
  for (const at::Tensor& product : products) product.zero_();
  try {
    loss.backward();
    FAIL() << "a kept result was changed";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("a result of aten::mm was changed in place after it was kept: result 0"));
  }
}

TEST(CheckpointedBlock, DebugFindsOtherValuesAndLogsBothPasses) {
  CheckpointModelOptions options = with(Mode::full);
  options.checkpoint.recording.checks_values = true;
  const auto calls = std::make_shared<int>(0);
  options.inside = [calls](const at::Tensor& x) { return x * static_cast<double>(++*calls); };
  ::testing::internal::CaptureStderr();
  const std::string error = error_of(options), logged = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(error, HasSubstr("gave other values: aten::mul.Scalar -> Double[2, 6, 24]"));
  EXPECT_THAT(logged, HasSubstr("layers.2 forward 1: aten::t -> Double[16, 16]"));
  EXPECT_THAT(logged, HasSubstr("layers.2 recomputation 1: aten::t -> Double[16, 16]"));
}

TEST(CheckpointedBlock, DebugIsSilentWhereBothPassesAgree) {
  CheckpointModelOptions options = with(Mode::selective);
  options.checkpoint.recording.checks_values = true;
  expect_same_bits(gradients(options), gradients(with(Mode::none)));
}

}  // namespace
}  // namespace titan::parallel
