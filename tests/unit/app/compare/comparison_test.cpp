#include "core/app/compare/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/app/compare/tables.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::app {
namespace {

using test::table;
using titan::test::thrown_by;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Comparison compare_losses(const std::vector<double>& a, const std::vector<double>& b, double tolerance = 0,
                          const StepRange& range = {}) {
  const auto rows = [](const std::vector<double>& losses) {
    std::vector<std::vector<double>> made;
    for (const double loss : losses) made.push_back({loss});
    return made;
  };
  return compare(table("a", {"loss"}, rows(a)), table("b", {"loss"}, rows(b)), {{"loss", tolerance}}, range);
}

std::int64_t first_step(const Comparison& comparison) {
  return comparison.agrees() ? 0 : comparison.steps.at(*comparison.first_differing).step;
}

TEST(ComparisonTest, EqualMeansEveryBit) {
  EXPECT_TRUE(compare_losses({8, 4, 2}, {8, 4, 2}).agrees());
  const double next = std::nextafter(4.0, 5.0);
  const Comparison comparison = compare_losses({8, 4, 2}, {8, next, 2});
  EXPECT_EQ(first_step(comparison), 2);
  EXPECT_EQ(comparison.num_differing, 1U);
  EXPECT_EQ(comparison.num_common, 3U);
  EXPECT_EQ(comparison.largest[0].step, 2);
  EXPECT_NEAR(comparison.largest[0].relative, 2.2e-16, 1e-17);
}

TEST(ComparisonTest, ToleranceIsRelativeToTheLargerValue) {
  EXPECT_TRUE(compare_losses({100}, {99}, 0.01).agrees());
  EXPECT_TRUE(compare_losses({99}, {100}, 0.01).agrees()) << "the same the other way round";
  EXPECT_FALSE(compare_losses({100}, {98.9}, 0.01).agrees());
  EXPECT_FALSE(compare_losses({1e-9}, {2e-9}, 0.01).agrees()) << "small numbers are judged as large ones";
  EXPECT_TRUE(compare_losses({0}, {0}).agrees());
  EXPECT_TRUE(compare_losses({0.0}, {-0.0}).agrees());
  EXPECT_FALSE(compare_losses({0}, {1e-300}, 0.5).agrees());
}

TEST(ComparisonTest, WhatIsNoNumberAgreesWithNothing) {
  EXPECT_FALSE(compare_losses({kNaN}, {1}, 1e9).agrees());
  EXPECT_FALSE(compare_losses({1}, {kNaN}, 1e9).agrees());
  const Comparison comparison = compare_losses({2, kNaN, 4}, {2, kNaN, 5});
  EXPECT_EQ(first_step(comparison), 2) << "two runs that broke prove nothing";
  EXPECT_EQ(comparison.num_differing, 2U);
  EXPECT_EQ(comparison.largest[0].step, 3) << "what is no number has no distance";
}

TEST(ComparisonTest, AMissingStepIsADifference) {
  const Comparison comparison = compare_losses({3, 2, 1}, {3, 2});
  EXPECT_EQ(first_step(comparison), 3);
  EXPECT_FALSE(comparison.steps.back().in_b);
  EXPECT_TRUE(comparison.steps.back().values.empty());
  EXPECT_EQ(comparison.num_common, 2U);
  EXPECT_TRUE(compare_losses({3, 2, 1}, {3, 2}, 0, {.last = 2}).agrees());
  EXPECT_TRUE(compare_losses({3, 2, 1}, {3, 2}, 0, {.last = {}, .common_only = true}).agrees());
}

TEST(ComparisonTest, StepsAfterTheLastAreLeftOut) {
  const Comparison comparison = compare_losses({3, 2, 1}, {3, 2, 0}, 0, {.last = 2});
  EXPECT_TRUE(comparison.agrees());
  EXPECT_EQ(comparison.steps.size(), 2U);
  const auto thrown = thrown_by([] { compare_losses({3, 2}, {3, 2}, 0, {.last = 5}); });
  EXPECT_EQ(thrown.exit, Exit::data);
  EXPECT_EQ(thrown.message, "[compare] neither run reaches step 5: a has steps 1 to 2, b has steps 1 to 2");
}

TEST(ComparisonTest, WithoutACommonStepNothingCanBeSaid) {
  RunTable later = table("later", {"loss"}, {});
  later.rows[7] = {1};
  for (const bool common_only : {false, true}) {
    const auto thrown = thrown_by([&] {
      compare(table("a", {"loss"}, {{1}, {2}}), later, {{"loss"}}, {.last = {}, .common_only = common_only});
    });
    EXPECT_EQ(thrown.exit, Exit::data);
    EXPECT_EQ(thrown.message, "[compare] no step in common: a has steps 1 to 2, later has steps 7 to 7");
  }
}

TEST(ComparisonTest, EachColumnHasItsTolerance) {
  const RunTable a = table("a", {"loss", "grad_norm"}, {{8, 1}, {4, 2}});
  const RunTable b = table("b", {"loss", "grad_norm"}, {{8, 1.1}, {4.4, 2}});
  EXPECT_EQ(first_step(compare(a, b, {{"loss", 0}, {"grad_norm", 0.2}}, {})), 2);
  EXPECT_EQ(first_step(compare(a, b, {{"loss", 0.2}, {"grad_norm", 0}}, {})), 1);
  const Comparison both = compare(a, b, {{"loss", 0.2}, {"grad_norm", 0.2}}, {});
  EXPECT_TRUE(both.agrees());
  EXPECT_EQ(both.largest[0].step, 2);
  EXPECT_EQ(both.largest[1].step, 1);
}

}  // namespace
}  // namespace titan::app
