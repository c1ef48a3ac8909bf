#include "core/pickle/texts.hpp"

#include <gtest/gtest.h>

namespace titan::pickle {
namespace {

TEST(TextsTest, NumbersAreStableAndEachTextHasOne) {
  Texts texts;
  EXPECT_EQ(texts.number(""), 0U);
  for (std::uint32_t i = 1; i < 1000; ++i) ASSERT_EQ(texts.number("text " + std::to_string(i)), i);
  EXPECT_EQ(texts.number("text 17"), 17U);
  EXPECT_EQ(texts.number(""), 0U);
  EXPECT_EQ(texts[0], "");
  EXPECT_EQ(texts[999], "text 999");
  EXPECT_EQ(texts.size(), 1000U);
}

}  // namespace
}  // namespace titan::pickle
