#include "core/tensor/vector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace titan::tensor::vector {
namespace {

TEST(Vector, ExponentialIsWithinTwoUlp) {
  for (float x = -86.9F; x < 88.0F; x += 0.0137F) {
    const double exact = std::exp(static_cast<double>(x));
    EXPECT_LE(std::abs(static_cast<double>(exponential(x)) - exact), 2 * 0x1p-23 * exact) << x;
  }
  EXPECT_EQ(exponential(0.0F), 1.0F);
}

TEST(Vector, ExponentialAtTheEnds) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exponential(-infinity), 0.0F);
  EXPECT_EQ(exponential(-200.0F), 0.0F);
  EXPECT_TRUE(std::isfinite(exponential(infinity)));
  EXPECT_GT(exponential(infinity), 1e38F);
  EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Vector, Bfloat16GoesBothWaysAsLibtorchDoesIt) {
  for (std::uint64_t step = 0; step < (std::uint64_t{1} << 32); step += 65521) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(step));
    c10::BFloat16 ours;
    store(ours, value);
    const c10::BFloat16 theirs(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(load(ours)));
    } else {
      ASSERT_EQ(ours.x, theirs.x) << value;
      ASSERT_EQ(load(ours), static_cast<float>(theirs));
    }
  }
}

TEST(Vector, SumsTakeEveryTermOnce) {
  for (const std::int64_t count : {0L, 1L, kLanes - 1, kLanes, kLanes + 1, kSumBlock, 3 * kSumBlock + kLanes + 5}) {
    EXPECT_EQ(sum_of(count, [](std::int64_t i) { return static_cast<float>(i % 2 + 1); }),
              static_cast<double>(count + count / 2));
  }
}

}  // namespace
}  // namespace titan::tensor::vector
