#include "core/app/checkpoint/tensor_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace titan::app {
namespace {

using checkpoint::DType;

template <class A, class B>
TensorDifference compare(DType a_dtype, const std::vector<A>& a, DType b_dtype, const std::vector<B>& b) {
  TensorComparison comparison;
  comparison.add({std::as_bytes(std::span(a)), a_dtype}, {std::as_bytes(std::span(b)), b_dtype});
  return comparison.finish();
}

constexpr std::int64_t kLarge = std::int64_t{1} << 53U;  // doubles are two apart from here on

TEST(TensorComparisonTest, WholeNumbersBeyondDoublesAreTold) {
  const auto one = compare<std::int64_t, std::int64_t>(DType::i64, {kLarge}, DType::i64, {kLarge + 1});
  EXPECT_EQ(one.num_differing, 1);
  EXPECT_EQ(one.absolute, 1);
  EXPECT_GT(one.relative, 0);
  const auto all = compare<std::int64_t, std::int64_t>(DType::i64, {INT64_MIN}, DType::i64, {INT64_MAX});
  EXPECT_EQ(all.absolute, 0x1p64);
  EXPECT_EQ(all.relative, 2);
}

TEST(TensorComparisonTest, WholeNumbersAreComparedWithFloatingOnesExactly) {
  const double large = static_cast<double>(kLarge);
  EXPECT_EQ((compare<std::int64_t, double>(DType::i64, {kLarge}, DType::f64, {large}).num_differing), 0);
  EXPECT_EQ((compare<std::int64_t, double>(DType::i64, {kLarge + 1}, DType::f64, {large}).num_differing), 1);
}

TEST(TensorComparisonTest, EveryTypeOfNumbers) {
  EXPECT_EQ((compare<std::int8_t, std::int32_t>(DType::i8, {-128, 5}, DType::i32, {-128, 7}).absolute), 2);
  EXPECT_EQ((compare<std::int16_t, std::uint8_t>(DType::i16, {-1}, DType::u8, {255}).absolute), 256);
  EXPECT_EQ((compare<std::uint8_t, std::uint8_t>(DType::boolean, {1, 0}, DType::boolean, {1, 1}).num_differing), 1);
  // 1 and 1.5 of float16, 2 of bfloat16.
  EXPECT_EQ((compare<std::uint16_t, std::uint16_t>(DType::f16, {0x3C00}, DType::f16, {0x3E00}).absolute), 0.5);
  EXPECT_EQ((compare<std::uint16_t, std::uint16_t>(DType::f16, {0x3C00}, DType::bf16, {0x4000}).relative), 0.5);
}

TEST(TensorComparisonTest, TheScaleIsTheLargestFiniteValueOfAllPieces) {
  const std::vector<float> large{-8, INFINITY, NAN}, a{1}, b{2};
  TensorComparison comparison;
  comparison.add({std::as_bytes(std::span(large)), DType::f32}, {std::as_bytes(std::span(large)), DType::f32});
  comparison.add({std::as_bytes(std::span(a)), DType::f32}, {std::as_bytes(std::span(b)), DType::f32});
  EXPECT_EQ(comparison.finish().relative, 0.125) << "equal pieces count for it too";
}

TEST(TensorComparisonTest, TheWholeOfALongPieceIsLookedAt) {
  std::vector<float> a(10'000, 1), b = a;
  b.back() = 3;
  b[4096] = 0;
  const TensorDifference difference = compare<float, float>(DType::f32, a, DType::f32, b);
  EXPECT_EQ(difference.num_differing, 2);
  EXPECT_EQ(difference.absolute, 2);
}

TEST(TensorComparisonTest, SumsThatNoDoubleHoldsHaveAScaleStill) {
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_EQ((compare<double, double>(DType::f64, {-kMost}, DType::f64, {kMost}).relative), 2);
}

TEST(TensorComparisonTest, InfinityIsInfinitelyFar) {
  EXPECT_TRUE(std::isinf(compare<float, float>(DType::f32, {INFINITY}, DType::f32, {1}).relative));
  EXPECT_TRUE(std::isinf(compare<float, float>(DType::f32, {INFINITY}, DType::f32, {-INFINITY}).relative));
  EXPECT_EQ((compare<float, double>(DType::f32, {INFINITY}, DType::f64, {INFINITY}).num_differing), 0);
}

}  // namespace
}  // namespace titan::app
