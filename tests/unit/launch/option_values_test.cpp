#include "core/launch/option_values.hpp"

#include <gtest/gtest.h>

namespace titan::launch {
namespace {

using Ranks = std::vector<std::int64_t>;

TEST(OptionValues, WholeNumbers) {
  EXPECT_EQ(parse_whole("0", 0, 3), 0);
  EXPECT_EQ(parse_whole("3", 0, 3), 3);
  for (const char* text : {"", "4", "-1", "1.0", " 1", "1 ", "0x1", "one", "9223372036854775808"}) {
    EXPECT_EQ(parse_whole(text, 0, 3), std::nullopt) << text;
  }
}

TEST(OptionValues, RanksAreSortedAndUnique) {
  EXPECT_EQ(parse_ranks("3,0,3", 4), (Ranks{0, 3}));
  EXPECT_EQ(parse_ranks("1", 2), Ranks{1});
}

TEST(OptionValues, RanksThatDoNotExist) {
  for (const char* text : {"", "4", "0,4", ",", "0,", ",0", "0,,1", "-1", "0;1", "a"}) {
    EXPECT_EQ(parse_ranks(text, 4), std::nullopt) << text;
  }
}

TEST(OptionValues, Seconds) {
  EXPECT_EQ(parse_seconds("0.5"), 0.5);
  EXPECT_EQ(parse_seconds("30"), 30.0);
  for (const char* text : {"", "-1", "nan", "inf", "1e999", "3s"}) EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
}

}  // namespace
}  // namespace titan::launch
