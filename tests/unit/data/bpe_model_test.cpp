#include "core/data/bpe_model.hpp"

#include <gtest/gtest.h>

#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/tiny_tokenizer.hpp"

namespace titan::data {
namespace {

using nlohmann::json;

BpeTables make(const json& tokenizer) {
  const TokenizerFile file = read_tokenizer_file(tokenizer.dump(), "t.json");
  return make_bpe_tables(JsonField(file.sections, "tokenizer", "t.json").at("model"), file);
}

json with_model(const char* field, json value) {
  json tokenizer = testing::tiny_tokenizer();
  tokenizer["model"][field] = std::move(value);
  return tokenizer;
}

std::string refusal(const json& tokenizer) {
  return testing::error_text<DataError>([&] { make(tokenizer); });
}

TEST(BpeModel, ReadsBytesAndMerges) {
  const BpeTables tables = make(testing::tiny_tokenizer());
  EXPECT_EQ(tables.byte_tokens[0], 0U);
  EXPECT_EQ(tables.byte_tokens[' '], 32U);
  EXPECT_EQ(tables.merges.find('h', 'e').id, 256U);
  EXPECT_EQ(tables.merges.find('t', 256).rank, 1U);
  EXPECT_EQ(tables.unknown_token, kNoToken);
  EXPECT_FALSE(tables.whole_words_first);
  EXPECT_EQ(tables.words.size(), 0U);
}

TEST(BpeModel, SpellsWordsInBytesForWholeWords) {
  json tokenizer = with_model("ignore_merges", true);
  tokenizer["model"]["vocab"]["\xC4\xA0x"] = 258;
  tokenizer["model"]["vocab"]["a b"] = 259;  // no byte is spelt with a space: never met
  const BpeTables tables = make(tokenizer);
  EXPECT_TRUE(tables.whole_words_first);
  EXPECT_EQ(tables.words.find(" x"), 258U);
  EXPECT_EQ(tables.words.find("a b"), kNoToken);
}

TEST(BpeModel, AcceptsWhatChangesNothing) {
  json tokenizer = testing::tiny_tokenizer();
  tokenizer["model"].update(
      {{"dropout", 0.0}, {"unk_token", nullptr}, {"end_of_word_suffix", ""}, {"byte_fallback", true}});
  EXPECT_EQ(make(tokenizer).merges.size(), 2U);
}

TEST(BpeModel, TakesTheUnknownTokenForMissingBytes) {
  json tokenizer = testing::tiny_tokenizer();
  tokenizer["model"]["vocab"].erase("A");
  EXPECT_EQ(make(tokenizer).byte_tokens['A'], kNoToken);
  tokenizer["model"]["unk_token"] = "the";
  EXPECT_EQ(make(tokenizer).unknown_token, 257U);
  tokenizer["model"]["byte_fallback"] = true;
  EXPECT_NE(refusal(tokenizer).find("byte_fallback is not supported: bytes without token 1"), std::string::npos);
}

TEST(BpeModel, RefusesByName) {
  EXPECT_NE(refusal(with_model("type", "Unigram")).find("found Unigram"), std::string::npos);
  EXPECT_NE(refusal(with_model("dropout", 0.1)).find("dropout: not supported"), std::string::npos);
  EXPECT_NE(refusal(with_model("end_of_word_suffix", "</w>")).find("end_of_word_suffix: not supported"),
            std::string::npos);
  EXPECT_NE(refusal(with_model("unk_token", "<unk>")).find("not in the vocabulary: \"<unk>\""), std::string::npos);
  EXPECT_NE(refusal(with_model("ignore_merges", 1)).find("expected true or false"), std::string::npos);
  EXPECT_NE(refusal(with_model("merges", {"h e", "q z"})).find("not in the vocabulary: \"qz\", merge 1"),
            std::string::npos);
  EXPECT_NE(refusal(with_model("merges", json::array({"hh e"}))).find("not in the vocabulary: \"hh\", merge 0"),
            std::string::npos);
  EXPECT_NE(refusal(with_model("merges", 3)).find("expected an array"), std::string::npos);
  EXPECT_NE(refusal(with_model("vocab", json::array())).find("expected an object"), std::string::npos);
}

}  // namespace
}  // namespace titan::data
