#include "core/train/layouts/output_trace.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace titan::train {
namespace {

at::Tensor indices() { return at::arange(6, at::kLong).view({2, 3}); }

TEST(OutputTrace, IsTheSameHoweverTokensAreSplit) {
  const at::Tensor output = at::randn({2, 3, 4}, at::kDouble);
  OutputTrace whole, split;
  whole.add("layers.0", output, indices(), 6);
  for (const std::int64_t column : {2, 0, 1}) {
    split.add("layers.0", output.narrow(1, column, 1), indices().narrow(1, column, 1), 6);
  }
  EXPECT_TRUE(whole.outputs().at("layers.0").sums.allclose(split.outputs().at("layers.0").sums, 1e-14));
  EXPECT_EQ(whole.outputs().at("layers.0").num_features, 4);
}

TEST(OutputTrace, DependsOnTheOrderOfFeatures) {
  const at::Tensor output = at::randn({2, 3, 4}, at::kDouble);
  OutputTrace one, other;
  one.add("layers.0", output, indices(), 6);
  other.add("layers.0", output.flip(2), indices(), 6);
  EXPECT_FALSE(one.outputs().at("layers.0").sums.allclose(other.outputs().at("layers.0").sums));
}

TEST(OutputTrace, HasNoNumberForTokensThatNobodyGave) {
  OutputTrace trace;
  trace.add("layers.0", at::randn({1, 3, 4}), indices().narrow(0, 0, 1), 6);
  const at::Tensor is_missing = trace.outputs().at("layers.0").sums.isnan();
  EXPECT_FALSE(is_missing.narrow(0, 0, 3).any().item<bool>());
  EXPECT_TRUE(is_missing.narrow(0, 3, 3).all().item<bool>());
}

TEST(OutputTrace, LeavesOutWhatIsNotByToken) {
  OutputTrace trace;
  trace.add("loss", at::randn({}), indices(), 6);
  trace.add("half", at::randn({2, 2, 4}), indices(), 6);
  trace.add("counts", at::arange(6, at::kLong).view({2, 3}), indices(), 6);
  EXPECT_TRUE(trace.order().empty());
}

TEST(OutputTrace, KeepsTheOrderOfExecution) {
  OutputTrace trace;
  for (const char* module : {"b", "a", "b"}) trace.add(module, at::randn({2, 3}), indices(), 6);
  EXPECT_EQ(trace.order(), (std::vector<std::string>{"b", "a"}));
}

}  // namespace
}  // namespace titan::train
