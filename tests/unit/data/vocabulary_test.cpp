#include "core/data/vocabulary.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

class VocabularyTest : public ::testing::Test {
 protected:
  VocabularyTest() {
    entries_.insert("a", 0);
    entries_.insert("b", 1);
  }

  static AddedToken token(std::string content, std::uint32_t id = kNoToken) {
    AddedToken result;
    result.content = std::move(content);
    result.id = id;
    return result;
  }

  TokenTable entries_;
  nlohmann::json nothing_;
  JsonField where_{nothing_, "tokenizer", "t.json"};
};

TEST_F(VocabularyTest, GivesNewTokensTheNextIds) {
  Vocabulary vocabulary(entries_, where_);
  vocabulary.add(token("b"), where_);
  vocabulary.add(token("x", 2), where_);
  vocabulary.add(token("y"), where_);
  vocabulary.add(token(""), where_);
  EXPECT_EQ(vocabulary.find("b"), 1U);
  EXPECT_EQ(vocabulary.find("x"), 2U);
  EXPECT_EQ(vocabulary.find("y"), 3U);
  EXPECT_EQ(vocabulary.find("z"), kNoToken);
  EXPECT_EQ(vocabulary.size(), 4U);
  EXPECT_EQ(vocabulary.content(3), "y");
  EXPECT_TRUE(vocabulary.has(0));
  EXPECT_FALSE(vocabulary.has(4));
  EXPECT_FALSE(vocabulary.has(-1));
}

TEST_F(VocabularyTest, ReplacesPropertiesButStaysSpecial) {
  Vocabulary vocabulary(entries_, where_);
  AddedToken special = token("x");
  special.special = true;
  vocabulary.add(special, where_);
  AddedToken later = token("x");
  later.lstrip = true;
  vocabulary.add(later, where_);
  ASSERT_EQ(vocabulary.added().size(), 1U);
  EXPECT_TRUE(vocabulary.added()[0].lstrip);
  EXPECT_TRUE(vocabulary.is_special(2));
}

TEST_F(VocabularyTest, RefusesContradictingIds) {
  entries_.insert("c", 1);
  EXPECT_NE(testing::error_text<DataError>([&] {
              Vocabulary(entries_, where_);
            }).find("one id for two tokens: 1, \"b\" and \"c\""),
            std::string::npos);
  TokenTable plain;
  plain.insert("a", 0);
  Vocabulary vocabulary(plain, where_);
  EXPECT_NE(testing::error_text<DataError>([&] { vocabulary.add(token("a", 5), where_); }).find("stated 5, gets 0"),
            std::string::npos);
  EXPECT_NE(testing::error_text<DataError>([&] { vocabulary.add(token("x", 5), where_); }).find("stated 5, gets 1"),
            std::string::npos);
  EXPECT_NE(
      testing::error_text<DataError>([&] { vocabulary.add(token(std::string(2000, 'x')), where_); }).find("too long"),
      std::string::npos);
}

TEST_F(VocabularyTest, RefusesSparseIds) {
  entries_.insert("far", 4'000'000);
  EXPECT_NE(testing::error_text<DataError>([&] { Vocabulary(entries_, where_); }).find("3 tokens, largest id 4000000"),
            std::string::npos);
}

TEST_F(VocabularyTest, LooksForNormalizedTokensInTheirNormalForm) {
  Vocabulary vocabulary(entries_, where_);
  vocabulary.add(token("e\xCC\x81"), where_);
  AddedToken raw = token("<x>");
  raw.normalized = false;
  vocabulary.add(raw, where_);
  const nlohmann::json section = {{"type", "NFC"}};
  const TextNormalizer nfc = TextNormalizer::parse(JsonField(section, "tokenizer", "f"));
  std::vector<std::uint32_t> ids;
  const auto take = [&](std::uint32_t id, std::string_view) { ids.push_back(id); };
  vocabulary.finder(true, nfc).split("\xC3\xA9<x>", take);
  vocabulary.finder(false, nfc).split("\xC3\xA9<x>", take);
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{2, kNoToken, kNoToken, 3}));
}

}  // namespace
}  // namespace titan::data
