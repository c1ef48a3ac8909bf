#include "core/train/layouts/compare_layouts.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/train/layouts/parted.hpp"

namespace titan::train {
namespace {

at::Tensor values() { return at::arange(1, 7, at::kDouble).view({2, 3}); }

/// A run of one parameter and two modules that gave what `scale` says, on that many ranks.
LayoutOutcome outcome(std::int64_t num_ranks, double scale = 1) {
  LayoutOutcome made;
  made.figures.assign(static_cast<std::size_t>(num_ranks), {{2.5, 1.5}});
  made.first_gradients["weight"] = sharded(values() * scale, num_ranks);
  made.weights["weight"] = sharded(values(), num_ranks);
  made.parameters = {"weight"};
  made.outputs = std::make_unique<OutputTrace>();
  const at::Tensor indices = at::arange(2, at::kLong).view({1, 2});
  made.outputs->add("first", at::ones({1, 2, 3}, at::kDouble), indices, 2);
  made.outputs->add("second", at::ones({1, 2, 3}, at::kDouble) * scale, indices, 2);
  return made;
}

LayoutsRequest request() {
  LayoutsRequest made;
  made.mesh = config::Mesh({1, 1, 2, 1, 1}, 2);
  return made;
}

TEST(CompareLayouts, AgreesWithinTheTolerance) {
  const LayoutsReport report = judge_layout(request(), outcome(2, 1 + 1e-11), outcome(1));
  EXPECT_TRUE(report.agrees());
  EXPECT_NEAR(report.parameters.at(0).gradient, 1e-11, 1e-13);
  EXPECT_EQ(report.parameters.at(0).weight, 0);
  EXPECT_EQ(report.num_whole_modules, 2U);
}

TEST(CompareLayouts, NamesParameterAxisAndModule) {
  const LayoutsReport report = judge_layout(request(), outcome(2, 2), outcome(1));
  EXPECT_FALSE(report.agrees());
  EXPECT_DOUBLE_EQ(report.parameters.at(0).gradient, 1);
  EXPECT_EQ(report.parameters.at(0).explanation, "x 2 = dp_shard: summed twice?");
  EXPECT_EQ(report.first_module, "second");
}

TEST(CompareLayouts, FindsOtherFigures) {
  LayoutOutcome other = outcome(2);
  other.figures.front().front().loss = 2.6;
  const LayoutsReport report = judge_layout(request(), other, outcome(1));
  EXPECT_FALSE(report.agrees());
  EXPECT_TRUE(report.parameters.at(0).agrees);
  EXPECT_FALSE(report.steps.at(0).agrees);
}

TEST(CompareLayouts, ComparesBuffersBitForBit) {
  LayoutOutcome other = outcome(2), one = outcome(1);
  one.buffers["bias"] = replicated({values()});
  other.buffers["bias"] = replicated({values(), values()});
  EXPECT_TRUE(judge_layout(request(), other, one).agrees());
  other.buffers["bias"].parts[0].values[1][2] += 1e-15;
  const LayoutsReport report = judge_layout(request(), other, one);
  EXPECT_FALSE(report.agrees()) << "within every tolerance, on one of two ranks";
  EXPECT_TRUE(report.parameters.at(0).agrees);
  EXPECT_EQ(report.buffers.at(0).name, "bias");
  EXPECT_EQ(report.buffers.at(0).explanation, "ranks along dp_shard should hold the same and do not");
  other.buffers.clear();
  EXPECT_TRUE(std::isinf(judge_layout(request(), other, one).buffers.at(0).difference));
}

TEST(CompareLayouts, FindsAMissingPart) {
  LayoutOutcome other = outcome(2);
  other.first_gradients["weight"].parts.pop_back();
  const LayoutsReport report = judge_layout(request(), other, outcome(1));
  EXPECT_TRUE(std::isinf(report.parameters.at(0).gradient));
  EXPECT_FALSE(report.agrees());
}

TEST(CompareLayouts, NamesNoModuleWhereFiguresAndParametersAgree) {
  LayoutOutcome other = outcome(2);
  other.outputs = std::move(outcome(2, 2).outputs);
  const LayoutsReport report = judge_layout(request(), other, outcome(1));
  EXPECT_TRUE(report.agrees());
  EXPECT_EQ(report.first_module, "");
}

TEST(CompareLayouts, ComparesWholeOutputsOnly) {
  LayoutOutcome other = outcome(2);
  other.outputs = std::make_unique<OutputTrace>();
  other.outputs->add("second", at::ones({1, 2, 5}, at::kDouble), at::arange(2, at::kLong).view({1, 2}), 2);
  const LayoutsReport report = judge_layout(request(), other, outcome(1));
  EXPECT_EQ(report.num_modules, 2U);
  EXPECT_EQ(report.num_whole_modules, 0U);
  EXPECT_TRUE(report.agrees());
}

}  // namespace
}  // namespace titan::train
