#include "core/data/unicode.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace titan::data {
namespace {

std::string lossy(std::string_view bytes) {
  std::string out;
  append_lossy(out, bytes);
  return out;
}

TEST(Unicode, ReadsCharactersForwardsAndBackwards) {
  const std::string_view text = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80";
  EXPECT_EQ(character_at(text, 0).code_point, U'a');
  EXPECT_EQ(character_at(text, 1).code_point, U'\u00E9');
  EXPECT_EQ(character_at(text, 3).code_point, U'\u4E2D');
  EXPECT_EQ(character_at(text, 6).code_point, U'\U0001F600');
  EXPECT_EQ(character_at(text, 6).length, 4U);
  EXPECT_EQ(character_before(text, text.size()).code_point, U'\U0001F600');
  EXPECT_EQ(character_before(text, 6).code_point, U'\u4E2D');
  EXPECT_EQ(character_before(text, 1).code_point, U'a');
}

TEST(Unicode, KeepsValidTextWhole) {
  const std::string_view text = "plain \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80 \xEF\xBF\xBD";
  EXPECT_EQ(lossy(text), text);
}

// One replacement for each longest prefix that could have begun a character: the table of the Unicode standard, 3.9.
TEST(Unicode, ReplacesMaximalInvalidParts) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(lossy("\xFF"), r);
  EXPECT_EQ(lossy("a\xE4\xB8z"), "a" + r + "z");
  EXPECT_EQ(lossy("\xF0\x9F\x98"), r);
  EXPECT_EQ(lossy("\xC0\xAF"), r + r);                  // overlong
  EXPECT_EQ(lossy("\xE0\x80\xAF"), r + r + r);          // overlong
  EXPECT_EQ(lossy("\xED\xA0\x80"), r + r + r);          // surrogate
  EXPECT_EQ(lossy("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
  EXPECT_EQ(lossy("\xF0\x80\x80\x41"), r + r + r + "A");
  EXPECT_EQ(lossy("\x80\xC3\xA9"), r + "\xC3\xA9");
}

TEST(Unicode, KnowsWhiteSpace) {
  for (const char32_t c : std::u32string_view(U"\u0009\u000D \u0085\u00A0\u1680\u2000\u200A\u2028\u202F\u205F\u3000"))
    EXPECT_TRUE(is_white_space(c)) << static_cast<unsigned>(c);
  for (const char32_t c : std::u32string_view(U"a\u180E\u200B\uFEFF\u001F"))
    EXPECT_FALSE(is_white_space(c)) << static_cast<unsigned>(c);
}

TEST(Unicode, KnowsWordCharacters) {
  for (const char32_t c : std::u32string_view(U"aZ9_\u00E9\u0301\u4E2D\u0663\u2167\u24D0\u200D"))
    EXPECT_TRUE(is_word_character(c)) << static_cast<unsigned>(c);
  for (const char32_t c : std::u32string_view(U" -.\u00B2\u00BD\U0001F600"))
    EXPECT_FALSE(is_word_character(c)) << static_cast<unsigned>(c);
}

TEST(Unicode, Normalizes) {
  EXPECT_EQ(normalize("e\xCC\x81", NormalForm::nfc), "\xC3\xA9");
  EXPECT_EQ(normalize("\xC3\xA9", NormalForm::nfd), "e\xCC\x81");
  EXPECT_EQ(normalize("\xEF\xAC\x81", NormalForm::nfc), "\xEF\xAC\x81");
  EXPECT_EQ(normalize("\xEF\xAC\x81", NormalForm::nfkc), "fi");
  EXPECT_EQ(normalize("\xE2\x84\xAB", NormalForm::nfc), "\xC3\x85");
  EXPECT_EQ(normalize("\xEA\xB0\x80", NormalForm::nfkd), "\xE1\x84\x80\xE1\x85\xA1");
  EXPECT_EQ(normalize(std::string_view("a\0b", 3), NormalForm::nfc), std::string("a\0b", 3));
  EXPECT_EQ(normalize("", NormalForm::nfd), "");
}

TEST(Unicode, KeepsTheCharacterBeforeTrailingConsonants) {
  EXPECT_EQ(normalize("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA7x", NormalForm::nfc), "\xEA\xB0\x80\xE1\x86\xA7x");
}

}  // namespace
}  // namespace titan::data
