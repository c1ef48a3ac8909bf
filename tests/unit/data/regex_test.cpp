#include "core/data/regex.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

TEST(Regex, FindsFromAStart) {
  const Regex regex("b+");
  RegexScratch scratch;
  Match match;
  ASSERT_TRUE(regex.find("abbabbb", 0, scratch, match));
  EXPECT_EQ(match.begin, 1U);
  EXPECT_EQ(match.end, 3U);
  ASSERT_TRUE(regex.find("abbabbb", 3, scratch, match));
  EXPECT_EQ(match.begin, 4U);
  EXPECT_FALSE(regex.find("abbabbb", 7, scratch, match));
  EXPECT_FALSE(regex.find("", 0, scratch, match));
}

TEST(Regex, FoldsCaseByUnicode) {
  const Regex regex("(?i:'s)");
  RegexScratch scratch;
  Match match;
  EXPECT_TRUE(regex.find("'S", 0, scratch, match));
  EXPECT_TRUE(regex.find("'\xC5\xBF", 0, scratch, match));
  EXPECT_FALSE(regex.find("'t", 0, scratch, match));
}

TEST(Regex, SaysWhyAPatternIsInvalid) {
  const std::string text = testing::error_text<std::invalid_argument>([] { Regex("a(b"); });
  EXPECT_NE(text.find("parenthesis"), std::string::npos) << text;
  EXPECT_NE(text.find("at byte 3"), std::string::npos) << text;
}

TEST(Regex, GivesUpOnCatastrophicPatterns) {
  const Regex regex("(?:a|aa|aaa)+[bc]d");
  RegexScratch scratch;
  Match match;
  const std::string text = std::string(5000, 'a') + "bcd";
  const std::string error =
      testing::error_text<DataError>([&] { regex.find(text.substr(0, 5000) + "be bd", 0, scratch, match); });
  EXPECT_NE(error.find("cannot be matched"), std::string::npos) << error;
}

TEST(Regex, MatchesLongTextsInOneGo) {
  const Regex regex(R"([^\s\p{L}\p{N}]+[\r\n]*|\p{White_Space}+(?!\P{White_Space})|\p{L}+)");
  RegexScratch scratch;
  Match match;
  for (const char c : {'.', ' ', 'x'}) {
    const std::string text(4'000'000, c);
    ASSERT_TRUE(regex.find(text, 0, scratch, match));
    EXPECT_EQ(match.end, text.size());
  }
}

}  // namespace
}  // namespace titan::data
