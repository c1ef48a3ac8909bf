#include "core/train/layouts/explanation.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/train/layouts/parted.hpp"

namespace titan::train {
namespace {

constexpr double kTolerance = 1e-9;

at::Tensor reference() { return at::randn({4, 3}, at::kDouble); }

config::Mesh along_tp(std::int64_t degree) { return {{1, 1, 1, 1, degree}, degree}; }
config::Mesh hsdp_tp() { return {{1, 1, 2, 1, 3}, 6}; }

TEST(RelativeDifference, IsTheLargestDifferenceOverTheLargestElement) {
  const at::Tensor b = at::zeros({2}, at::kDouble);
  b[0] = 4;
  const at::Tensor a = b.clone();
  a[1] = 1;
  EXPECT_DOUBLE_EQ(relative_difference(a, b), 0.25);
  EXPECT_EQ(relative_difference(b, b), 0);
  EXPECT_TRUE(std::isinf(relative_difference(b, at::zeros({2}, at::kDouble))));
  EXPECT_TRUE(std::isinf(relative_difference(b, at::zeros({3}, at::kDouble))));
  EXPECT_TRUE(std::isinf(relative_difference(b.mul(NAN), b)));
}

TEST(Explanation, NamesTheAxisOfAFactor) {
  const at::Tensor b = reference();
  EXPECT_EQ(explain(sharded(b * 2, 2), b, along_tp(2), kTolerance), "x 2 = tp: summed twice?");
  EXPECT_EQ(explain(sharded(b / 2, 2), b, along_tp(2), kTolerance), "x 1/2 = 1/tp: averaged, or a missing reduction?");
  EXPECT_EQ(explain(sharded(b * 2, 2), b, hsdp_tp(), kTolerance), "x 2 = dp_shard: summed twice?");
  EXPECT_EQ(explain(sharded(b * 6, 2), b, hsdp_tp(), kTolerance), "x 6 = dp_shard x tp: summed twice?");
  EXPECT_EQ(explain(sharded(b * 5, 2), b, along_tp(2), kTolerance), "x 5, which is no degree of the layout");
}

TEST(Explanation, NamesAllAxesThatAFactorMayBe) {
  const at::Tensor b = reference();
  EXPECT_EQ(explain(sharded(b * 2, 2), b, {{1, 1, 2, 1, 2}, 4}, kTolerance), "x 2 = dp_shard or tp: summed twice?");
}

TEST(Explanation, NamesExpertsBesideTheAxesTheyAreSpreadOver) {
  const at::Tensor b = reference();
  const config::Mesh one_axis({1, 1, 2, 1, 1}, 2, 2), two_axes({1, 1, 2, 1, 2}, 4, 4);
  EXPECT_EQ(explain(sharded(b * 2, 2), b, one_axis, kTolerance), "x 2 = dp_shard or ep: summed twice?");
  EXPECT_EQ(explain(sharded(b.roll(2, 0), 2), b, one_axis, kTolerance),
            "rank 0 has the part of rank 1 along dp_shard or ep: wrong offset of a shard");
  EXPECT_EQ(explain(sharded(b.roll(1, 0), 4), b, two_axes, kTolerance),
            "rank 0 has the part of rank 3 along ep: wrong offset of a shard");
}

TEST(Explanation, TellsSummandsFromOtherDifferencesOfReplicas) {
  const at::Tensor b = reference(), part = reference();
  EXPECT_EQ(explain(replicated({part, b - part}), b, along_tp(2), kTolerance),
            "ranks along tp hold summands: missing reduction over tp");
  EXPECT_EQ(explain(replicated({part, b}), b, along_tp(2), kTolerance),
            "ranks along tp should hold the same and do not");
}

TEST(Explanation, FindsPartsThatBelongToOthers) {
  const at::Tensor b = reference();
  EXPECT_EQ(explain(sharded(b.roll(2, 0), 2), b, along_tp(2), kTolerance),
            "rank 0 has the part of rank 1 along tp: wrong offset of a shard");
}

TEST(Explanation, IsEmptyWhereNothingExplains) {
  EXPECT_EQ(explain(sharded(reference(), 2), reference(), along_tp(2), kTolerance), "");
}

}  // namespace
}  // namespace titan::train
