#include "core/data/byte_level_tokenizer.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/tiny_tokenizer.hpp"

namespace titan::data {
namespace {

using Ids = std::vector<std::int64_t>;

std::shared_ptr<const Tokenizer> load(const nlohmann::json& tokenizer, const std::string& config = "{}") {
  const test::TemporaryFolder folder;
  folder.write("tokenizer.json", tokenizer.dump());
  folder.write("tokenizer_config.json", config);
  return Tokenizer::load(folder.path());
}

TEST(ByteLevelTokenizer, EncodesAndDecodes) {
  const auto tokenizer = load(testing::tiny_tokenizer());
  EXPECT_EQ(tokenizer->encode("the hen"), (Ids{257, ' ', 256, 'n'}));
  EXPECT_EQ(tokenizer->encode(""), Ids{});
  EXPECT_EQ(tokenizer->decode(Ids{257, ' ', 256, 'n'}, true), "the hen");
  EXPECT_EQ(tokenizer->vocab_size(), 258);
}

TEST(ByteLevelTokenizer, RefusesTextThatIsNotUtf8) {
  const auto tokenizer = load(testing::tiny_tokenizer());
  EXPECT_NE(testing::error_text<DataError>([&] { tokenizer->encode("ab\xFF"); }).find("not UTF-8: at byte 2"),
            std::string::npos);
}

TEST(ByteLevelTokenizer, AnyTextComesBack) {
  const auto tokenizer = load(testing::tiny_tokenizer());
  std::string text;
  for (char32_t c = 0; c < 0x11000; c += 7) {
    if (c < 0xD800 || c > 0xDFFF) append_utf8(text, c);
  }
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text), true), text);
}

TEST(ByteLevelTokenizer, NormalizesOnlyBetweenRawTokens) {
  nlohmann::json tokenizer = testing::tiny_tokenizer();
  tokenizer["normalizer"] = {{"type", "NFC"}};
  tokenizer["added_tokens"] = {{{"id", 258}, {"content", "<e\xCC\x81>"}, {"normalized", false}, {"special", true}}};
  EXPECT_EQ(load(tokenizer)->encode("e\xCC\x81<e\xCC\x81>"), (Ids{0xC3, 0xA9, 258}));
}

TEST(ByteLevelTokenizer, PutsBosAndEosWhereTheyAreMissing) {
  nlohmann::json tokenizer = testing::tiny_tokenizer();
  const std::string config = R"({"bos_token":"<s>","eos_token":"</s>","add_eos_token":true})";
  const auto plain = load(tokenizer, config);
  EXPECT_EQ(plain->bos_id(), 258);
  EXPECT_EQ(plain->eos_id(), 259);
  EXPECT_EQ(plain->vocab_size(), 260);
  EXPECT_EQ(plain->encode("a", true, true), (Ids{258, 'a', 259}));
  EXPECT_EQ(plain->encode("a", true, false), (Ids{258, 'a'}));
  EXPECT_EQ(plain->encode_default("a"), (Ids{'a', 259}));

  tokenizer["added_tokens"] = {{{"id", 258}, {"content", "<s>"}, {"normalized", false}, {"special", true}}};
  tokenizer["post_processor"] = {{"type", "TemplateProcessing"},
                                 {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
                                 {"special_tokens", {{"<s>", {{"ids", {258}}}}}}};
  const auto with_template = load(tokenizer, config);
  EXPECT_TRUE(with_template->bos_eos_rules().adds_bos);
  EXPECT_FALSE(with_template->bos_eos_rules().adds_eos);
  EXPECT_EQ(with_template->encode("a", true, true), (Ids{258, 'a', 259}));
  EXPECT_EQ(with_template->encode("a", false, false), (Ids{258, 'a'}));
  EXPECT_EQ(with_template->encode("a"), (Ids{'a'}));
}

TEST(ByteLevelTokenizer, OneTokenMayBeBosAndEos) {
  const auto tokenizer = load(testing::tiny_tokenizer(), R"({"bos_token":"<|end|>","eos_token":"<|end|>"})");
  EXPECT_EQ(tokenizer->bos_id(), tokenizer->eos_id());
  EXPECT_EQ(tokenizer->encode("a", true, true), (Ids{258, 'a', 258}));
}

TEST(ByteLevelTokenizer, EncodesOnManyThreads) {
  const auto tokenizer = load(testing::tiny_tokenizer());
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back("the " + std::to_string(i * 7919) + " hen they then");
  std::vector<Ids> expected;
  for (const std::string& text : texts) expected.push_back(tokenizer->encode(text));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < texts.size(); ++i) wrong[t] += tokenizer->encode(texts[i]) != expected[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace titan::data
