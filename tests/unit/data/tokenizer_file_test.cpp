#include "core/data/tokenizer_file.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/tiny_tokenizer.hpp"

namespace titan::data {
namespace {

TokenizerFile read(std::string_view text) { return read_tokenizer_file(text, "t.json"); }

std::string refusal(std::string_view text) {
  return testing::error_text<DataError>([&] { read(text); });
}

TEST(TokenizerFile, SeparatesTheTablesFromTheRest) {
  const TokenizerFile file = read(testing::tiny_tokenizer().dump());
  EXPECT_EQ(file.vocab.size(), 258U);
  EXPECT_EQ(file.vocab.find("the"), 257U);
  ASSERT_EQ(file.merges.size(), 2U);
  EXPECT_EQ(file.merges.left(1), "t");
  EXPECT_EQ(file.merges.right(1), "he");
  EXPECT_EQ(file.sections.at("model").at("vocab"), nlohmann::json::object());
  EXPECT_EQ(file.sections.at("model").at("merges"), nlohmann::json::array());
  EXPECT_EQ(file.sections.at("pre_tokenizer").at("type"), "ByteLevel");
}

TEST(TokenizerFile, ReadsMergesAsPairs) {
  const TokenizerFile file =
      read(R"({"model":{"merges":[["a b","c"],["d","e f"]],"vocab":{"x":1}},"vocab":{"y":[2]}})");
  ASSERT_EQ(file.merges.size(), 2U);
  EXPECT_EQ(file.merges.left(0), "a b");
  EXPECT_EQ(file.merges.right(1), "e f");
  EXPECT_EQ(file.vocab.size(), 1U);
  EXPECT_EQ(file.sections.at("vocab").at("y").at(0), 2);  // not the model's
}

TEST(TokenizerFile, SaysWhereTheTextIsBroken) {
  EXPECT_NE(refusal("{\n\"model\": {\"vocab\"").find("t.json:2:"), std::string::npos);
  EXPECT_NE(refusal("").find("t.json:1:1"), std::string::npos);
  EXPECT_NE(refusal("{} x").find("t.json:1:4"), std::string::npos);
  EXPECT_NE(refusal("{\"a\":\"\xFF\"}").find("UTF-8"), std::string::npos);
}

TEST(TokenizerFile, EveryTruncationIsAnError) {
  const std::string text = testing::tiny_tokenizer().dump();
  for (std::size_t length = 0; length < text.size(); length += 7) {
    EXPECT_THROW(read(std::string_view(text).substr(0, length)), DataError) << length;
  }
}

TEST(TokenizerFile, RefusesWrongVocabularies) {
  const auto vocab = [](const std::string& content) { return refusal("{\"model\":{\"vocab\":{" + content + "}}}"); };
  EXPECT_NE(vocab(R"("a":-1)").find("expected an id from 0 to 4194303: token \"a\", found -1"), std::string::npos);
  EXPECT_NE(vocab(R"("a":4194304)").find("found 4194304"), std::string::npos);
  EXPECT_NE(vocab(R"("a":1e3)").find("expected an id"), std::string::npos);
  EXPECT_NE(vocab(R"("a":null)").find("found null"), std::string::npos);
  EXPECT_NE(vocab(R"("a":"1")").find("found \"1\""), std::string::npos);
  EXPECT_NE(vocab(R"("a":{})").find("found an object"), std::string::npos);
  EXPECT_NE(vocab(R"("a":[])").find("found an array"), std::string::npos);
  EXPECT_NE(vocab(R"("a":99999999999999999999999999)").find("expected an id"), std::string::npos);
  EXPECT_NE(vocab(R"("a":1,"a":2)").find("token twice: \"a\""), std::string::npos);
}

TEST(TokenizerFile, RefusesWrongMerges) {
  const auto merges = [](const std::string& content) { return refusal("{\"model\":{\"merges\":[" + content + "]}}"); };
  EXPECT_NE(merges(R"("a b","ab")").find("merge 1, \"ab\""), std::string::npos);
  EXPECT_NE(merges(R"("a b c")").find("one space"), std::string::npos);
  EXPECT_NE(merges(R"(["a"])").find("not two tokens: merge 0"), std::string::npos);
  EXPECT_NE(merges(R"(["a","b","c"])").find("not two tokens"), std::string::npos);
  EXPECT_NE(merges(R"(["a",["b"]])").find("expected two tokens"), std::string::npos);
  EXPECT_NE(merges("7").find("found 7"), std::string::npos);
  EXPECT_NE(merges("{}").find("found an object"), std::string::npos);
}

TEST(TokenizerFile, BoundsDepth) {
  EXPECT_NE(refusal(std::string(1'000'000, '[')).find("nested too deeply"), std::string::npos);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_NE(refusal(objects).find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace titan::data
