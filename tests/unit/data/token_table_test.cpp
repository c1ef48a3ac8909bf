#include "core/data/token_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace titan::data {
namespace {

TEST(TokenTable, FindsWhatWasInserted) {
  TokenTable table;
  EXPECT_EQ(table.find("a"), kNoToken);
  EXPECT_TRUE(table.insert("a", 7));
  EXPECT_TRUE(table.insert("", 8));
  EXPECT_FALSE(table.insert("a", 9));
  EXPECT_EQ(table.find("a"), 7U);
  EXPECT_EQ(table.find(""), 8U);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.text(0), "a");
  EXPECT_EQ(table.id(1), 8U);
}

TEST(TokenTable, Grows) {
  TokenTable table;
  for (std::uint32_t i = 0; i < 20'000; ++i) ASSERT_TRUE(table.insert("token " + std::to_string(i), i));
  for (std::uint32_t i = 0; i < 20'000; ++i) ASSERT_EQ(table.find("token " + std::to_string(i)), i);
  EXPECT_EQ(table.find("token 20000"), kNoToken);
}

TEST(PairTable, AgreesWithAMap) {
  PairTable table;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> reference;
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    const auto left = static_cast<std::uint32_t>(random() % 300);
    const auto right = static_cast<std::uint32_t>(random() % 300);
    table.set(left, right, {i, i + 1});
    reference[{left, right}] = i;
  }
  EXPECT_EQ(table.size(), reference.size());
  for (std::uint32_t left = 0; left < 300; ++left) {
    for (std::uint32_t right = 0; right < 300; ++right) {
      const auto found = reference.find({left, right});
      ASSERT_EQ(table.find(left, right).rank, found == reference.end() ? kNoToken : found->second);
    }
  }
}

}  // namespace
}  // namespace titan::data
