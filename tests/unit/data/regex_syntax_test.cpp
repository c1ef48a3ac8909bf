#include "core/data/regex_syntax.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/data/regex.hpp"
#include "core/data/unicode.hpp"

namespace titan::data {
namespace {

bool matches_character(const std::string& pattern, char32_t c) {
  std::string text;
  append_utf8(text, c);
  RegexScratch scratch;
  Match match;
  return Regex(oniguruma_to_pcre2(pattern)).find(text, 0, scratch, match) && match.end == text.size();
}

TEST(RegexSyntax, KeepsWhatMeansTheSame) {
  for (const char* pattern :
       {R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?(?:a|b)++)", R"(\d+\-\[(?!x)(?<=y)(?>z))", "(?i)a|b"}) {
    EXPECT_EQ(oniguruma_to_pcre2(pattern), pattern);
  }
}

TEST(RegexSyntax, WhiteSpaceIsThePropertyOfThatName) {
  for (const char* pattern : {R"(\s)", R"([\s])", R"([^\S])"}) {
    EXPECT_TRUE(matches_character(pattern, U' '));
    EXPECT_TRUE(matches_character(pattern, 0x85));
    EXPECT_TRUE(matches_character(pattern, 0x3000));
    EXPECT_FALSE(matches_character(pattern, 0x180E));
    EXPECT_FALSE(matches_character(pattern, 0x1F));
  }
}

TEST(RegexSyntax, WordCharactersAreOnigurumas) {
  for (const char32_t c : {U'a', U'9', U'_', U'\u0301', U'\u203F', U'\u24D0'}) {
    EXPECT_TRUE(matches_character(R"(\w)", c)) << static_cast<unsigned>(c);
    EXPECT_TRUE(matches_character(R"([\w])", c)) << static_cast<unsigned>(c);
    EXPECT_FALSE(matches_character(R"(\W)", c)) << static_cast<unsigned>(c);
  }
  EXPECT_FALSE(matches_character(R"(\w)", 0x2070));
  // The numbers of Latin-1 that are no decimal digits belong to \w, but not inside a class.
  EXPECT_TRUE(matches_character(R"(\w)", 0xB2));
  EXPECT_FALSE(matches_character(R"([\w])", 0xB2));
}

TEST(RegexSyntax, ScriptsAreScriptsProper) {
  EXPECT_TRUE(matches_character(R"(\p{Han})", 0x4E2D));
  EXPECT_FALSE(matches_character(R"(\p{Han})", 0x3001));  // an extension alone
  EXPECT_TRUE(matches_character(R"(\p{Alphabetic})", U'a'));
}

TEST(RegexSyntax, RefusesWhatDiffers) {
  for (const char* pattern :
       {R"(\h)",   R"(\b)",   R"(\R)",  R"(\1)", R"([\W])", R"([a-z&&[^x]])", "[[:alpha:]]", "[a[b]]",
        "a{1,3}+", "a{2}?",   "a{,3}",  "a{x",   "(?m)x",   "(?s:x)",         "a(?i)b",      "(?<name>x)",
        "(?~x)",   R"(\xE4)", R"(\pL)", "\\",    "[a",      "[]a]",           R"(\p{L)"}) {
    EXPECT_THROW(oniguruma_to_pcre2(pattern), std::invalid_argument) << pattern;
  }
}

TEST(RegexSyntax, EscapesEverythingSpecial) {
  const std::string text = "a.b*c[d](e){f}^$|\\?+-# \xC3\xA9\n";
  RegexScratch scratch;
  Match match;
  ASSERT_TRUE(Regex(oniguruma_to_pcre2(escape_regex(text))).find("xx" + text, 0, scratch, match));
  EXPECT_EQ(match.begin, 2U);
  EXPECT_EQ(match.end, 2 + text.size());
}

}  // namespace
}  // namespace titan::data
