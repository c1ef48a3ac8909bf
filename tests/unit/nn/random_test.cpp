#include "core/nn/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace titan::nn {
namespace {

TEST(Random, UniformStaysInsideAndIsEven) {
  constexpr std::uint64_t kCount = 200000;
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double draw = uniform(42, i);
    ASSERT_GT(draw, 0.0);
    ASSERT_LT(draw, 1.0);
    sum += draw;
    squares += draw * draw;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 5 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 0.005);
}

TEST(Random, NeighbouringDrawsAndStreamsAreUnrelated) {
  constexpr std::uint64_t kCount = 100000;
  double with_next = 0, with_stream = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double draw = uniform(7, i) - 0.5;
    with_next += draw * (uniform(7, i + 1) - 0.5);
    with_stream += draw * (uniform(8, i) - 0.5);
  }
  const double five_errors = 5.0 / 12 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(with_next / kCount, 0, five_errors);
  EXPECT_NEAR(with_stream / kCount, 0, five_errors);
}

TEST(Random, OneBitOfInputChangesHalfTheOutput) {
  double flipped = 0;
  for (int bit = 0; bit < 64; ++bit) {
    flipped += std::popcount(scramble(12345) ^ scramble(12345 ^ (std::uint64_t{1} << bit)));
  }
  EXPECT_NEAR(flipped / 64, 32, 3);
}

TEST(Random, InverseUndoesTheDistribution) {
  EXPECT_EQ(inverse_normal_cdf(0.5), 0.0);
  EXPECT_NEAR(inverse_normal_cdf(0.975), 1.959963984540054, 1e-14);
  for (double x = -8; x <= 5; x += 0.01) {
    // Towards 1 the probability itself runs out of digits.
    EXPECT_NEAR(inverse_normal_cdf(normal_cdf(x)), x, x < 2 ? 1e-13 : 1e-9) << x;
  }
}

TEST(Random, ManyAtOnceEqualOneByOne) {
  std::vector<double> many(1001);
  uniforms(3, 17, many);
  for (std::size_t i = 0; i < many.size(); ++i) ASSERT_EQ(many[i], uniform(3, 17 + i));
  const std::vector<double> drawn = many;
  inverse_normal_cdf(many);
  for (std::size_t i = 0; i < many.size(); ++i) ASSERT_EQ(many[i], inverse_normal_cdf(drawn[i]));
}

TEST(Random, EveryDrawHasAFiniteNormal) {
  EXPECT_TRUE(std::isfinite(inverse_normal_cdf(0x1p-53)));
  EXPECT_TRUE(std::isfinite(inverse_normal_cdf(1 - 0x1p-53)));
}

}  // namespace
}  // namespace titan::nn
