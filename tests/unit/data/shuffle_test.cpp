#include "core/data/shuffle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace titan::data {
namespace {

using Order = std::vector<std::uint32_t>;

TEST(Shuffle, IsAPermutation) {
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 100U, 1000U}) {
    Order order = shuffled_order(count, 1, 2, 3);
    std::sort(order.begin(), order.end());
    Order expected(count);
    std::iota(expected.begin(), expected.end(), 0U);
    EXPECT_EQ(order, expected);
  }
}

TEST(Shuffle, DependsOnEveryArgument) {
  const Order order = shuffled_order(100, 1, 2, 3);
  EXPECT_EQ(shuffled_order(100, 1, 2, 3), order);
  EXPECT_NE(shuffled_order(100, 9, 2, 3), order);
  EXPECT_NE(shuffled_order(100, 1, 9, 3), order);
  EXPECT_NE(shuffled_order(100, 1, 2, 9), order);
  EXPECT_NE(shuffled_order(100, 2, 1, 3), order);
}

// Saved positions mean something only as long as the orders stay what they are.
TEST(Shuffle, StaysWhatItIs) {
  EXPECT_EQ(shuffled_order(8, 42, 0, 0), (Order{4, 1, 2, 3, 0, 5, 7, 6}));
  EXPECT_EQ(shuffled_order(8, 42, 1, 5), (Order{0, 2, 6, 1, 7, 4, 5, 3}));
}

TEST(Shuffle, IsFair) {
  std::map<Order, int> seen;
  constexpr int kRounds = 24'000;
  for (std::uint64_t epoch = 0; epoch < kRounds; ++epoch) ++seen[shuffled_order(4, 7, epoch, 0)];
  ASSERT_EQ(seen.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : seen) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 49.7);  // 23 degrees of freedom: 0.1 % of fair shuffles exceed this
}

}  // namespace
}  // namespace titan::data
