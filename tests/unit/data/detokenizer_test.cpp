#include "core/data/detokenizer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

class DetokenizerTest : public ::testing::Test {
 protected:
  DetokenizerTest() {
    entries_.insert("\xC4\xA0the", 0);
    entries_.insert("\xC3\xA4", 1);  // the byte E4
    entries_.insert("\xC2\xB8", 2);  // the byte B8
    entries_.insert("\xC5\x83", 3);  // the byte AD
    entries_.insert("gap", 5);
  }

  Detokenizer make(Detokenizer::Kind kind) {
    Vocabulary vocabulary(entries_, where_);
    AddedToken special;
    special.content = "<x>";
    special.special = true;
    vocabulary.add(special, where_);
    AddedToken spaced;
    spaced.content = "a b";
    vocabulary.add(spaced, where_);
    return {vocabulary, TextNormalizer(), kind};
  }

  TokenTable entries_;
  json nothing_;
  JsonField where_{nothing_, "tokenizer", "t.json"};
};

TEST_F(DetokenizerTest, JoinsBytesAcrossTokens) {
  const Detokenizer detokenizer = make(Detokenizer::Kind::byte_level);
  EXPECT_EQ(detokenizer.decode(Ids{0, 1, 2, 3, 5}, true), " the\xE4\xB8\xADgap");
  EXPECT_EQ(detokenizer.decode(Ids{1, 2, 0}, true), "\xEF\xBF\xBD the");
  EXPECT_EQ(detokenizer.decode(Ids{}, true), "");
}

TEST_F(DetokenizerTest, LeavesOutSpecialTokensAndUnknownIds) {
  const Detokenizer detokenizer = make(Detokenizer::Kind::byte_level);
  EXPECT_EQ(detokenizer.decode(Ids{6, 0, 4, -1, 99, INT64_MAX, INT64_MIN, 7}, true), " thea b");
  EXPECT_EQ(detokenizer.decode(Ids{6, 0}, false), "<x> the");
}

TEST_F(DetokenizerTest, PutsSpacesBetweenWithoutADecoder) {
  EXPECT_EQ(make(Detokenizer::Kind::spaces_between).decode(Ids{5, 7, 5}, true), "gap a b gap");
}

TEST(DetokenizerSection, AcceptsByteLevelAlone) {
  const auto parse = [](const json& section) { return Detokenizer::parse(JsonField(section, "tokenizer", "f")); };
  const json byte_level = {{"type", "ByteLevel"}};
  EXPECT_EQ(parse(byte_level), Detokenizer::Kind::byte_level);
  EXPECT_EQ(parse({{"type", "Sequence"}, {"decoders", {byte_level, {{"type", "Fuse"}}}}}),
            Detokenizer::Kind::byte_level);
  for (const json& section : {json{{"type", "Metaspace"}}, json{{"type", "Fuse"}},
                              json{{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, byte_level}}},
                              json{{"type", "Sequence"}, {"decoders", json::array()}}}) {
    EXPECT_NE(testing::error_text<DataError>([&] { parse(section); }).find("decoder not supported"), std::string::npos);
  }
}

}  // namespace
}  // namespace titan::data
