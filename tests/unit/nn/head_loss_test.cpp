#include "core/nn/head_loss.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/declare.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::declare;
using titan::testing::relative_difference;

constexpr std::uint32_t kBoth = TITAN_AROUND_ANY_OUTPUTS | TITAN_AROUND_SKIPPABLE;

/// A chain of one block, the projection `output`, and the loss.
class Head {
 public:
  explicit Head(const at::Tensor& weight)
      : output_(tree_.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {})),
        loss_(tree_.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {})) {
    const auto shape = weight.sizes().vec();
    tree_.add_parameter(output_, declare("weight", shape));
    tree_.add_to_chain(output_, 0);
    tree_.set_loss(loss_);
    const at::ScalarType type = weight.scalar_type();
    tree_.materialise({type, type, type}, at::kCPU, 0);
    const at::NoGradGuard no_grad;
    tree_.find_parameter("output.weight")->storage.copy_(weight);
    attach(output_, TITAN_AROUND_ANY_OUTPUTS, &dims_of_output_);
  }

  at::Tensor loss(const at::Tensor& hidden, const at::Tensor& labels, double gradient = 1) {
    return tree_.forward_loss(hidden, {}, labels, gradient);
  }
  /// The two leaves, one after the other.
  at::Tensor separate_loss(const at::Tensor& hidden, const at::Tensor& labels) {
    return tree_.loss(tree_.forward(hidden, {}), labels);
  }
  /// An interceptor that notes how many dims an output has.
  void attach(ModuleId module, std::uint32_t declared, std::optional<std::int64_t>* dims) {
    tree_.attach(
        module, 0,
        [dims](Frame& frame, Next next, const Tensors& in) {
          Tensors out = next(frame, in);
          *dims = out.front().dim();
          return out;
        },
        declared);
  }
  /// Whether the last call had no logits.
  bool was_fused() const { return dims_of_output_ == 0; }
  at::Tensor& gradient() { return weight().mutable_grad(); }
  at::Tensor& weight() { return tree_.find_parameter("output.weight")->compute; }
  Tree& tree() { return tree_; }
  ModuleId output() const { return output_; }
  ModuleId loss_module() const { return loss_; }

 private:
  Tree tree_;
  ModuleId output_, loss_;
  std::optional<std::int64_t> dims_of_output_;
};

struct Case {
  at::Tensor hidden, weight, labels;
};

/// Every fifth label is ignored.
Case make_case(std::int64_t batch, std::int64_t length, std::int64_t dim, std::int64_t vocab) {
  const at::Tensor labels = at::randint(vocab, {batch, length}, at::kLong);
  return {at::randn({batch, length, dim}), at::randn({vocab, dim}) * 0.3,
          labels.masked_fill(at::randint(5, {batch, length}).eq(0), -100)};
}

/// Loss, and gradients of hidden and weight, in fp64.
std::vector<at::Tensor> run(const Case& given, at::ScalarType type, bool is_fused, double gradient = 1) {
  Head head(given.weight.to(type));
  const at::Tensor hidden = given.hidden.to(type).detach().requires_grad_(true);
  const at::Tensor loss =
      is_fused ? head.loss(hidden, given.labels, gradient) : head.separate_loss(hidden, given.labels);
  EXPECT_EQ(head.was_fused(), is_fused);
  loss.backward(at::full({}, gradient, loss.options()));
  std::vector<at::Tensor> results;
  for (const at::Tensor& each : {loss.detach(), hidden.grad(), head.gradient()})
    results.push_back(each.to(at::kDouble));
  return results;
}

/// Of values that were rounded to `type` first.
std::vector<at::Tensor> exact(const Case& given, at::ScalarType type, double gradient = 1) {
  return run({given.hidden.to(type), given.weight.to(type), given.labels}, at::kDouble, false, gradient);
}

void expect_no_worse_than_the_leaves(const Case& given, at::ScalarType type, double gradient) {
  const auto truth = exact(given, type, gradient), ours = run(given, type, true, gradient),
             theirs = run(given, type, false, gradient);
  // Of elements that are rounded otherwise, the worst may be somewhat worse.
  const double floor = type == at::kFloat ? 1e-6 : 2e-3;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double allowed = std::max(floor, 2 * relative_difference(theirs[i], truth[i]));
    EXPECT_LE(relative_difference(ours[i], truth[i]), allowed)
        << c10::toString(type) << ", vocabulary " << given.weight.size(0) << ", result " << i;
    const double norm = (theirs[i] - truth[i]).norm().item<double>();
    EXPECT_LE((ours[i] - truth[i]).norm().item<double>(), 1.1 * norm + floor * truth[i].norm().item<double>());
  }
}

TEST(HeadLoss, IsAsExactAsTheLeaves) {
  for (const std::int64_t vocab : {2, 33, 1000, 9001}) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      expect_no_worse_than_the_leaves(make_case(3, 257, 24, vocab), type, 1);
    }
  }
}

TEST(HeadLoss, AddsUpManyChunks) {
  const Case given = make_case(1, 1801, 16, 10007);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
    expect_no_worse_than_the_leaves(given, type, 1.0 / 1801);
}

TEST(HeadLoss, OfAnotherNumberOfThreadsDiffersByRoundingAlone) {
  const Case given = make_case(2, 700, 40, 5003);
  const int before = at::get_num_threads();
  std::vector<std::vector<at::Tensor>> results;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    results.push_back(run(given, at::kFloat, true));
  }
  at::set_num_threads(before);
  // libtorch's products are the same to rounding alone.
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_LE(relative_difference(results[0][i], results[1][i]), 2e-6) << i;
  }
}

TEST(HeadLoss, AllIgnoredIsZero) {
  Case given = make_case(2, 40, 8, 50);
  given.labels.fill_(-100);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const at::Tensor& each : run(given, type, true)) EXPECT_TRUE(each.equal(at::zeros_like(each)));
  }
}

TEST(HeadLoss, AnotherGradientThanTheExpectedOneScales) {
  const Case given = make_case(2, 40, 8, 50);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    Head head(given.weight.to(type));
    const at::Tensor hidden = given.hidden.to(type).detach().requires_grad_(true);
    (head.loss(hidden, given.labels, 0.5) / 8).backward();
    const auto expected = run(given, type, true, 0.125);
    EXPECT_TRUE(hidden.grad().to(at::kDouble).equal(expected[1]));
    EXPECT_TRUE(head.gradient().to(at::kDouble).equal(expected[2]));
  }
}

TEST(HeadLoss, NotANumberIsNotHidden) {
  Case given = make_case(1, 40, 8, 50);
  given.hidden[0][7][3] = NAN;
  given.labels.zero_();
  EXPECT_TRUE(run(given, at::kFloat, true)[0].isnan().item<bool>());
}

TEST(HeadLoss, EvaluationRecordsNothingAndGivesTheSame) {
  const Case given = make_case(2, 40, 8, 50);
  Head head(given.weight);
  const at::Tensor hidden = given.hidden.detach().requires_grad_(true);
  const at::Tensor trained = head.loss(hidden, given.labels);
  const at::NoGradGuard no_grad;
  const at::Tensor evaluated = head.loss(hidden, given.labels);
  EXPECT_TRUE(head.was_fused());
  EXPECT_FALSE(evaluated.requires_grad());
  EXPECT_TRUE(evaluated.equal(trained));
}

TEST(HeadLoss, GivesOnlyTheGradientsThatAreWanted) {
  const Case given = make_case(2, 40, 8, 50);
  const auto expected = run(given, at::kFloat, true);
  Head frozen(given.weight);
  frozen.weight().requires_grad_(false);
  const at::Tensor hidden = given.hidden.detach().requires_grad_(true);
  frozen.loss(hidden, given.labels).backward();
  EXPECT_TRUE(hidden.grad().to(at::kDouble).equal(expected[1]));
  EXPECT_FALSE(frozen.gradient().defined());
  Head first(given.weight);
  first.loss(given.hidden, given.labels).backward();
  EXPECT_TRUE(first.gradient().to(at::kDouble).equal(expected[2]));
}

TEST(HeadLoss, TiedWeightsGetBothGradients) {
  const auto make = [](Tree& tree) {
    const std::vector<std::int64_t> shape = {60, 12};
    const ModuleId embedding = tree.add_leaf(TITAN_MODULE_ROOT, "embedding", "titan.embedding", {});
    titan_parameter weight = declare("weight", shape);
    weight.init = TITAN_INIT_NORMAL;
    weight.std = 1;
    tree.add_parameter(embedding, weight);
    const ModuleId output = tree.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {});
    tree.share_parameter(output, "weight", embedding, 0);
    tree.add_to_chain(embedding, 0);
    tree.add_to_chain(output, 0);
    tree.set_loss(tree.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {}));
    tree.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 0);
  };
  const at::Tensor tokens = at::randint(60, {2, 50}, at::kLong), labels = at::randint(60, {2, 50}, at::kLong);
  Tree fused, separate;
  make(fused);
  make(separate);
  fused.forward_loss(tokens, {}, labels).backward();
  separate.loss(separate.forward(tokens, {}), labels).backward();
  const auto gradient = [](Tree& tree) { return tree.find_parameter("output.weight")->compute.grad(); };
  EXPECT_LE(relative_difference(gradient(fused), gradient(separate)), 1e-6);
}

TEST(HeadLoss, IsDifferentiatedOnce) {
  const Case given = make_case(2, 40, 8, 50);
  Head head(given.weight);
  const at::Tensor hidden = given.hidden.detach().requires_grad_(true);
  const at::Tensor loss = head.loss(hidden, given.labels);
  EXPECT_THAT([&] { torch::autograd::grad({loss}, {hidden}, {}, true, true); },
              ThrowsMessage<PluginError>(HasSubstr("[head_loss] our own kernels are differentiated once")));
  torch::autograd::backward({loss}, {}, true);
  EXPECT_THAT([&] { loss.backward(); },
              ThrowsMessage<PluginError>(HasSubstr("[head_loss] backward runs once through a loss")));
}

TEST(HeadLoss, WhoLooksAtTheLogitsSeesThem) {
  const Case given = make_case(2, 40, 8, 50);
  Head head(given.weight);
  std::optional<std::int64_t> dims;
  head.attach(head.output(), TITAN_AROUND_SKIPPABLE, &dims);
  head.loss(given.hidden, given.labels);
  EXPECT_EQ(dims, 3);
  EXPECT_FALSE(head.was_fused());
}

TEST(HeadLoss, WhoStandsAroundTheLossIsRunUnlessSkippable) {
  const Case given = make_case(2, 40, 8, 50);
  Head head(given.weight);
  std::optional<std::int64_t> skipped, dims;
  head.attach(head.loss_module(), kBoth, &skipped);
  const at::Tensor fused = head.loss(given.hidden, given.labels);
  EXPECT_TRUE(head.was_fused());
  EXPECT_FALSE(skipped.has_value());
  head.attach(head.loss_module(), TITAN_AROUND_ANY_OUTPUTS, &dims);
  const at::Tensor separate = head.loss(given.hidden, given.labels);
  EXPECT_FALSE(head.was_fused());
  EXPECT_EQ(dims, 0);
  EXPECT_EQ(skipped, 0);
  EXPECT_LE(relative_difference(fused, separate), 1e-6);
}

TEST(HeadLoss, LogitsSmallerThanTheWeightsGradientStay) {
  Case given = make_case(1, 7, 8, 50);
  Head head(given.weight);
  head.loss(given.hidden, given.labels);
  EXPECT_FALSE(head.was_fused());
  const at::NoGradGuard no_grad;
  head.loss(given.hidden, given.labels);
  EXPECT_TRUE(head.was_fused());
}

TEST(HeadLoss, OtherDtypesRunTheLeaves) {
  for (const at::ScalarType type : {at::kDouble, at::kHalf}) {
    const Case given = make_case(2, 40, 8, 50);
    Head head(given.weight.to(type));
    head.loss(given.hidden.to(type), given.labels);
    EXPECT_FALSE(head.was_fused()) << c10::toString(type);
  }
}

TEST(HeadLoss, WrongInputsAreNamedByTheLeaves) {
  const Case given = make_case(2, 40, 8, 50);
  Head head(given.weight);
  EXPECT_THAT(
      [&] {
        head.loss(given.hidden, at::full({2, 40}, 50, at::kLong));
      },
      ThrowsMessage<PluginError>(HasSubstr("[loss] label out of range: 50, the vocabulary has 50")));
  EXPECT_THAT(
      [&] {
        head.loss(given.hidden, at::zeros({2, 39}, at::kLong));
      },
      ThrowsMessage<PluginError>(HasSubstr("[loss] input has the wrong size: labels must have 40 in dim 1")));
  EXPECT_THAT(
      [&] {
        head.loss(at::randn({2, 40, 9}), given.labels);
      },
      ThrowsMessage<PluginError>(HasSubstr("[output] input has the wrong size: x must have 8")));
}

}  // namespace
}  // namespace titan::nn
