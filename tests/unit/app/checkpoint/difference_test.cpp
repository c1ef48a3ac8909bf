#include "core/app/checkpoint/difference.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/app/checkpoint/made_checkpoint.hpp"

namespace titan::app {
namespace {

using checkpoint::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Made, testing::MadeCheckpoint;

class DifferenceTest : public ::testing::Test {
 protected:
  template <class A, class B>
  Difference compare(const Made<A>& a, const Made<B>& b) {
    a_.add("w", a);
    b_.add("w", b);
    return compare();
  }
  Difference compare() const {
    return compare_checkpoints(a_.save(), b_.save(), [](std::uint64_t, std::uint64_t) {});
  }
  static Made<float> floats(const std::vector<float>& values) {
    return {DType::f32, {static_cast<std::int64_t>(values.size())}, values};
  }

  test::TemporaryFolder folder_;
  MadeCheckpoint a_{folder_ / "a"}, b_{folder_ / "b"};
};

TEST_F(DifferenceTest, TheSameIsEqual) {
  const Difference difference = compare(floats({1, NAN, -0.0F}), floats({1, NAN, -0.0F}));
  EXPECT_TRUE(difference.is_equal(std::nullopt));
  EXPECT_EQ(difference.num_compared, 1U);
  EXPECT_EQ(difference.num_bytes, 12U);
  EXPECT_EQ(difference_text(difference), "");
}

TEST_F(DifferenceTest, TheLargestDifferenceCounts) {
  const Difference difference = compare(floats({1, 2, 3, 4}), floats({1, 2.5F, 2.75F, -8}));
  ASSERT_EQ(difference.values.size(), 1U);
  EXPECT_EQ(difference.values[0].num_differing, 3);
  EXPECT_EQ(difference.values[0].absolute, 12);
  EXPECT_EQ(difference.values[0].relative, 1.5) << "of the 8 in B";
  EXPECT_FALSE(difference.is_equal(1.4));
  EXPECT_TRUE(difference.is_equal(1.5));
  EXPECT_EQ(difference_summary(difference, std::nullopt), "tensors: 1 of other values");
  EXPECT_EQ(difference_summary(difference, 1.4), "tensors: 1 beyond the tolerance");
}

TEST_F(DifferenceTest, BitsDecideWithoutATolerance) {
  const Difference difference = compare(floats({0.0F, 1}), floats({-0.0F, 1}));
  EXPECT_FALSE(difference.is_equal(std::nullopt));
  EXPECT_TRUE(difference.is_equal(0)) << "zeros of two signs have one value";
}

TEST_F(DifferenceTest, WhatIsNoNumberIsInfinitelyFar) {
  const Difference difference = compare(floats({NAN, 1}), floats({1, 1}));
  EXPECT_TRUE(std::isinf(difference.values[0].relative));
  EXPECT_FALSE(difference.is_equal(1e30));
}

TEST_F(DifferenceTest, ZerosHaveNoScale) {
  EXPECT_TRUE(std::isinf(compare(floats({1e-20F}), floats({0})).values[0].relative));
}

TEST_F(DifferenceTest, DtypesMayDifferWithinATolerance) {
  const Difference difference = compare(floats({1, 2}), Made<std::uint16_t>{DType::bf16, {2}, {0x3F80, 0x4000}});
  EXPECT_THAT(difference.dtypes, ElementsAre("w: float32 and bfloat16"));
  EXPECT_THAT(difference.values, IsEmpty());
  EXPECT_FALSE(difference.is_equal(std::nullopt));
  EXPECT_TRUE(difference.is_equal(0));
}

TEST_F(DifferenceTest, WholeNumbersAreCompared) {
  const Difference difference =
      compare(Made<std::int64_t>{DType::i64, {2}, {7, 1}}, Made<std::int64_t>{DType::i64, {2}, {7, 3}});
  EXPECT_EQ(difference.values[0].absolute, 2);
  EXPECT_EQ(difference.values[0].num_differing, 1);
}

TEST_F(DifferenceTest, SmallTensorsAreReadTogetherAndProgressOnlyGrows) {
  constexpr std::int64_t kSize = std::int64_t{33} << 20U;  // two pieces
  const Made<std::uint8_t> large{DType::u8, {kSize}, std::vector<std::uint8_t>(kSize)};
  for (const char* name : {"a", "b", "c"}) {
    a_.add(name, floats({1, 2}));
    b_.add(name, floats({1, 3}));
  }
  a_.add("large", large);
  b_.add("large", large);
  std::vector<std::uint64_t> told;
  const Difference difference = compare_checkpoints(a_.save(), b_.save(), [&](std::uint64_t done, std::uint64_t total) {
    told.push_back(done);
    EXPECT_EQ(total, 24U + kSize);
  });
  EXPECT_EQ(difference.values.size(), 3U);
  ASSERT_LE(told.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(told.back(), 24U + kSize);
}

TEST_F(DifferenceTest, NamesAndShapesAreCompared) {
  a_.add("only_a", floats({1}));
  b_.add("only_b", floats({1}));
  const Difference difference = compare(floats({1, 2}), floats({1}));
  EXPECT_THAT(difference.only_a, ElementsAre("only_a"));
  EXPECT_THAT(difference.only_b, ElementsAre("only_b"));
  EXPECT_THAT(difference.shapes, ElementsAre("w: [2] and [1]"));
  EXPECT_FALSE(difference.is_equal(1e30));
  EXPECT_EQ(difference_summary(difference, 1e30), "tensors: 1 only in A, 1 only in B, 1 of another shape");
}

TEST_F(DifferenceTest, TheWorstComesFirstAndTheReportEnds) {
  for (int i = 0; i < 25; ++i) {
    const std::string name = "w" + std::to_string(i);
    a_.add(name, floats({1}));
    b_.add(name, floats({1.0F + static_cast<float>(i == 13 ? 100 : i + 1) / 1024}));
  }
  const Difference difference = compare();
  EXPECT_EQ(difference.values.front().name, "w13");
  const std::string text = difference_text(difference);
  EXPECT_THAT(text, HasSubstr("values that differ, the worst first:\n"));
  EXPECT_THAT(text, HasSubstr("  and 5 more\n"));
}

}  // namespace
}  // namespace titan::app
