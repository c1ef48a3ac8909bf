#include "core/data/pre_tokenizer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

json byte_level(bool add_prefix_space = false, bool use_regex = false) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"use_regex", use_regex}};
}

json split(const json& pattern, const std::string& behavior, bool invert = false) {
  return {{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", invert}};
}

json sequence(json first, json second) {
  return {{"type", "Sequence"}, {"pretokenizers", {std::move(first), std::move(second)}}};
}

Words words(const json& section, std::string_view text) {
  Words result;
  RegexScratch scratch;
  PreTokenizer::parse(JsonField(section, "tokenizer", "f")).split(text, scratch, [&](std::string_view word) {
    result.emplace_back(word);
  });
  return result;
}

std::string refusal(const json& section) {
  return testing::error_text<DataError>([&] { PreTokenizer::parse(JsonField(section, "tokenizer", "f")); });
}

TEST(PreTokenizer, CutsByTheStandardPattern) {
  EXPECT_EQ(words(byte_level(false, true), "it's 42  cats!\n"), (Words{"it", "'s", " 42", " ", " cats", "!", "\n"}));
  EXPECT_EQ(words(byte_level(false, false), "it's 42"), Words{"it's 42"});
  EXPECT_EQ(words(byte_level(false, true), ""), Words{});
}

TEST(PreTokenizer, PutsASpaceBeforeEveryPieceThatHasNone) {
  EXPECT_EQ(words(byte_level(true, true), "a b"), (Words{" a", " b"}));
  EXPECT_EQ(words(byte_level(true, true), " a b"), (Words{" a", " b"}));
  EXPECT_EQ(words(sequence(split({{"String", "-"}}, "Isolated"), byte_level(true)), "a-b"), (Words{" a", " -", " b"}));
}

// The examples of Hugging Face's documentation of Split.
TEST(PreTokenizer, KnowsAllBehaviors) {
  const json dash = {{"String", "-"}};
  const std::string_view text = "the-final--countdown";
  const auto cut = [&](const char* behavior) { return words(sequence(split(dash, behavior), byte_level()), text); };
  EXPECT_EQ(cut("Removed"), (Words{"the", "final", "countdown"}));
  EXPECT_EQ(cut("Isolated"), (Words{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(cut("MergedWithPrevious"), (Words{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(cut("MergedWithNext"), (Words{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(cut("Contiguous"), (Words{"the", "-", "final", "--", "countdown"}));
}

TEST(PreTokenizer, InvertsMatches) {
  const json letters = {{"Regex", "[a-z]+"}};
  EXPECT_EQ(words(sequence(split(letters, "Removed", true), byte_level()), "ab, cd"), (Words{"ab", "cd"}));
  EXPECT_EQ(words(sequence(split(letters, "MergedWithPrevious", true), byte_level()), "ab, cd!"),
            (Words{"ab, ", "cd!"}));
}

TEST(PreTokenizer, GoesOnBehindEmptyMatches) {
  EXPECT_EQ(words(sequence(split({{"Regex", "x*"}}, "Isolated"), byte_level()), "axxb"), (Words{"a", "xx", "b"}));
  EXPECT_EQ(words(sequence(split({{"Regex", "(?=b)"}}, "Isolated"), byte_level()), "abab"), (Words{"a", "ba", "b"}));
}

TEST(PreTokenizer, CutsDigits) {
  const json each = {{"type", "Digits"}, {"individual_digits", true}};
  const json runs = {{"type", "Digits"}, {"individual_digits", false}};
  EXPECT_EQ(words(sequence(each, byte_level()), "a12b"), (Words{"a", "1", "2", "b"}));
  EXPECT_EQ(words(sequence(runs, byte_level()), "a12b"), (Words{"a", "12", "b"}));
}

TEST(PreTokenizer, RefusesByName) {
  EXPECT_NE(refusal({{"type", "Metaspace"}}).find("not supported: Metaspace"), std::string::npos);
  EXPECT_NE(refusal(split({{"String", "-"}}, "Removed")).find("must be ByteLevel"), std::string::npos);
  EXPECT_NE(refusal(sequence(byte_level(), byte_level())).find("nothing may follow ByteLevel"), std::string::npos);
  EXPECT_NE(refusal(split({{"Regex", "a(b"}}, "Removed")).find("pattern: invalid regular expression"),
            std::string::npos);
  EXPECT_NE(refusal(split({{"Regex", R"(\h)"}}, "Removed")).find("\\h is not supported"), std::string::npos);
  EXPECT_NE(refusal(split({{"Regex", "a"}}, "Dropped")).find("behavior: unknown behaviour: \"Dropped\""),
            std::string::npos);
  EXPECT_NE(refusal(split(json::object(), "Removed")).find("expected a Regex or a String"), std::string::npos);
  EXPECT_NE(refusal({{"type", 3}}).find("type: expected a string"), std::string::npos);
  json many = {{"type", "Sequence"}, {"pretokenizers", json::array()}};
  for (int i = 0; i < 40; ++i) many["pretokenizers"].push_back(split({{"String", "-"}}, "Removed"));
  EXPECT_NE(refusal(many).find("too many pre-tokenizers"), std::string::npos);
}

}  // namespace
}  // namespace titan::data
