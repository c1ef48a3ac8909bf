#include "core/base/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace titan {
namespace {

using Items = std::vector<std::string>;

TEST(TextTest, ConcatWritesShortestNumbers) {
  EXPECT_EQ(concat("a", 'b', std::string("c"), true, 1, -2L, std::size_t{3}), "abctrue1-23");
  EXPECT_EQ(concat(0.1), "0.1");
  EXPECT_EQ(concat(1e-8), "1e-08");
  EXPECT_EQ(concat(0.1F), "0.1");
  EXPECT_EQ(concat(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(TextTest, JoinAndSplitAreInverse) {
  EXPECT_EQ(join({"a", "b", ""}, ", "), "a, b, ");
  EXPECT_EQ(join({}, ","), "");
  EXPECT_EQ(split("a,b,", ','), (Items{"a", "b", ""}));
  EXPECT_EQ(split("", ','), Items{});
  EXPECT_EQ(split(",", ','), (Items{"", ""}));
}

TEST(TextTest, PrintableKeepsTextOfAnyLanguage) {
  const std::string text = "grüße 你好 🦙 a\\b";
  EXPECT_EQ(printable(text), text);
}

TEST(TextTest, PrintableEscapesWhatATerminalWouldActOn) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable(std::string_view("\0\x1b[31m\x7f", 7)), "\\x00\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a C1 control character";
  EXPECT_EQ(printable("\u202e"), "\\xe2\\x80\\xae") << "text direction";
  EXPECT_EQ(printable("\u2028"), "\\xe2\\x80\\xa8") << "line separator";
}

TEST(TextTest, PrintableEscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut";
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(TextTest, InvalidUtf8IsFound) {
  EXPECT_EQ(invalid_utf8_at("ä"), std::string_view::npos);
  EXPECT_EQ(invalid_utf8_at("ä\xff"), 2U);
  EXPECT_EQ(invalid_utf8_at(""), std::string_view::npos);
}

TEST(TextTest, ColorsAreKeptAndEnd) {
  EXPECT_EQ(printable_in_color("\x1b[1;32mgo\x1b[0m\n"), "\x1b[1;32mgo\x1b[0m\\n");
  EXPECT_EQ(printable_in_color("\x1b[32mgo"), "\x1b[32mgo\x1b[0m") << "back to the default colour";
  EXPECT_EQ(printable_in_color("plain"), "plain");
}

TEST(TextTest, OtherSequencesAreNoColors) {
  for (const std::string text : {"\x1b[8mhidden", "\x1b[2J", "\x1b]0;title\x07", "\x1b[40mx", "\x1b[31", "\x1b"}) {
    EXPECT_EQ(printable_in_color(text), printable(text)) << printable(text);
  }
}

TEST(TextTest, ColorsCanBeRemoved) {
  EXPECT_EQ(without_color("a\x1b[31mb\x1b[0mc"), "abc");
  EXPECT_EQ(without_color("a\x1b[2Jb"), "a\x1b[2Jb");
}

TEST(TextTest, ShortenedCutsBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc... (1 more bytes)");
  EXPECT_EQ(shortened("aä", 2), "a... (2 more bytes)");
  EXPECT_EQ(shortened(std::string(9, '\x80'), 6).substr(0, 3), "\x80\x80\x80") << "not UTF-8: cut near the limit";
}

TEST(TextTest, NearestFindsSmallMistakes) {
  const Items names = {"training.steps", "training.max_norm", "validator.steps"};
  EXPECT_EQ(nearest("training.stepz", names), "training.steps");
  EXPECT_EQ(nearest("trainig.steps", names), "training.steps");
  EXPECT_EQ(nearest("completely.else", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("ab", {"cd", "ax"}), "ax");
  EXPECT_EQ(nearest("a", {}), "");
}

TEST(TextTest, NearestDoesNotCompareHugeWords) {
  EXPECT_EQ(nearest(std::string(10'000'000, 'x'), {std::string(10'000'000, 'x')}), "");
}

}  // namespace
}  // namespace titan
