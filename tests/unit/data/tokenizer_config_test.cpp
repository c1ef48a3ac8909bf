#include "core/data/tokenizer_config.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

TokenizerConfig read(std::string_view text) { return read_tokenizer_config(text, "c.json"); }

std::string refusal(std::string_view text) {
  return testing::error_text<DataError>([&] { read(text); });
}

TEST(TokenizerConfig, TakesTokensAsTextOrObject) {
  const TokenizerConfig config = read(R"({"bos_token":"<s>","eos_token":{"__type":"AddedToken","content":"</s>",
    "lstrip":true,"normalized":false},"pad_token":null,"unk_token":"<u>","add_bos_token":true,"chat_template":"x"})");
  EXPECT_EQ(config.bos_token, "<s>");
  EXPECT_EQ(config.eos_token, "</s>");
  EXPECT_TRUE(config.add_bos_token);
  EXPECT_FALSE(config.add_eos_token);
  ASSERT_EQ(config.special_tokens.size(), 3U);
  EXPECT_FALSE(config.special_tokens[0].normalized);
  EXPECT_TRUE(config.special_tokens[1].lstrip);
  EXPECT_EQ(config.special_tokens[2].content, "<u>");
  for (const AddedToken& token : config.special_tokens) EXPECT_TRUE(token.special);
}

TEST(TokenizerConfig, ReadsTheDecoderInTheOrderOfIds) {
  const TokenizerConfig config = read(
      R"({"added_tokens_decoder":{"10":{"content":"c"},"9":{"content":"b"},"100":{"content":"d","special":false}}})");
  ASSERT_EQ(config.special_tokens.size(), 3U);
  EXPECT_EQ(config.special_tokens[0].id, 9U);
  EXPECT_EQ(config.special_tokens[1].id, 10U);
  EXPECT_EQ(config.special_tokens[2].id, 100U);
  EXPECT_TRUE(config.special_tokens[0].normalized);
  EXPECT_FALSE(config.bos_token.has_value());
}

TEST(TokenizerConfig, RefusesWhatIsMalformed) {
  EXPECT_NE(refusal("{").find("c.json:1:"), std::string::npos);
  EXPECT_NE(refusal(R"({"bos_token":3})").find("bos_token: expected a token"), std::string::npos);
  EXPECT_NE(refusal(R"({"bos_token":{"lstrip":true}})").find("bos_token: missing field: \"content\""),
            std::string::npos);
  EXPECT_NE(refusal(R"({"add_bos_token":"yes"})").find("add_bos_token: expected true or false"), std::string::npos);
  EXPECT_NE(refusal(R"({"added_tokens_decoder":{"-1":{"content":"a"}}})").find("expected an id"), std::string::npos);
  EXPECT_NE(refusal(R"({"added_tokens_decoder":{"9999999999":{"content":"a"}}})").find("expected an id"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"added_tokens_decoder":{"1x":{"content":"a"}}})").find("expected an id"), std::string::npos);
  EXPECT_NE(refusal(R"({"added_tokens_decoder":[]})").find("expected an object"), std::string::npos);
}

}  // namespace
}  // namespace titan::data
