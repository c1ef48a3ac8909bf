#include "plugins/observability/numerics/finite_scan.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace titan::observability {
namespace {

TEST(FiniteScan, RangesOfFiniteNumbers) {
  const Range range = range_of(at::tensor({1.5, -2.0, 0.25}));
  EXPECT_TRUE(range.is_known && range.is_finite());
  EXPECT_EQ(describe(range), "within [-2, 1.5]");
  EXPECT_TRUE(range_of(at::tensor({1.5}).to(at::kBFloat16)).is_known);
  EXPECT_TRUE(range_of(at::tensor({1.5}).to(at::kHalf)).is_known);
}

TEST(FiniteScan, WhatCannotBeReadIsNotKnown) {
  EXPECT_FALSE(range_of({}).is_known);
  EXPECT_FALSE(range_of(at::empty({0})).is_known);
  EXPECT_FALSE(range_of(at::arange(3)).is_known) << "whole numbers are finite";
  at::Tensor released = at::ones({3});
  released.storage().set_nbytes(0);
  EXPECT_FALSE(range_of(released).is_known);
  EXPECT_EQ(describe(Range{}), "not in memory");
  EXPECT_TRUE(Range{}.is_finite());
}

TEST(FiniteScan, OneElementIsEnough) {
  for (const double value : {std::nan(""), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)}) {
    at::Tensor tensor = at::zeros({3, 5});
    tensor[1][4] = value;
    EXPECT_FALSE(range_of(tensor).is_finite());
  }
}

TEST(FiniteScan, SaysWhereAndHowMany) {
  at::Tensor tensor = at::linspace(-1, 1, 2000).view({40, 50}).clone();
  tensor[3][7] = INFINITY;
  tensor[3][9] = NAN;
  tensor[20][0] = NAN;
  EXPECT_EQ(describe_trouble(tensor),
            "it is not finite: inf at [3, 7], 2 NaN and 1 inf of 2,000 values, the others within [-1, 1]");
  EXPECT_EQ(describe_trouble(tensor.t()),
            "it is not finite: NaN at [0, 20], 2 NaN and 1 inf of 2,000 values, the others within [-1, 1]");
  EXPECT_EQ(describe_trouble(at::full({2}, -INFINITY), {40}), "it is not finite: -inf at [40], 2 inf of 2 values");
}

TEST(FiniteScan, NumbersWhoseSquaresOverflowAreLarge) {
  const at::Tensor tensor = at::tensor({1.0, -1.5e38});
  EXPECT_TRUE(range_of(tensor).is_large(at::kFloat));
  EXPECT_TRUE(range_of(tensor).is_large(at::kBFloat16));
  EXPECT_FALSE(range_of(tensor.to(at::kDouble)).is_large(at::kDouble));
  EXPECT_FALSE(range_of(at::tensor({1e9})).is_large(at::kFloat));
  EXPECT_EQ(describe_trouble(tensor), "it has a very large value: -1.5e+38 at [1], of 2 values, the next largest 1");
}

TEST(FiniteScan, OneValueBeyondAllMeasureIsNotGrown) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    EXPECT_TRUE(has_outlier(at::tensor({1.0, 0.0, -1.5e38}).to(type)));
    EXPECT_FALSE(has_outlier(at::tensor({1e20, -1.5e38, 1e22}).to(type))) << "all of it has grown";
    EXPECT_FALSE(has_outlier(at::tensor({0.0, 1.5e38, 0.0}).to(type))) << "there is nothing to compare with";
    EXPECT_FALSE(has_outlier(at::tensor({1e-3, 1e15}).to(type))) << "far apart, and its square is finite";
    EXPECT_FALSE(has_outlier(at::tensor({1.5e38}).to(type)));
  }
  EXPECT_FALSE(has_outlier({}));
}

}  // namespace
}  // namespace titan::observability
