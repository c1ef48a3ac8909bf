#include "core/data/text_normalizer.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

using nlohmann::json;

TextNormalizer parse(const json& section) { return TextNormalizer::parse(JsonField(section, "tokenizer", "f")); }

TEST(TextNormalizer, AppliesFormsInOrder) {
  EXPECT_TRUE(TextNormalizer().is_identity());
  EXPECT_EQ(TextNormalizer().apply("e\xCC\x81"), "e\xCC\x81");
  EXPECT_EQ(parse({{"type", "NFC"}}).apply("e\xCC\x81"), "\xC3\xA9");
  const json both = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}, {{"type", "NFD"}}}}};
  EXPECT_EQ(parse(both).apply("\xEF\xAC\x81\xC3\xA9"), "fie\xCC\x81");
  EXPECT_FALSE(parse(both).is_identity());
}

TEST(TextNormalizer, RefusesOthersByName) {
  for (const char* type : {"Lowercase", "Replace", "Prepend"}) {
    const std::string text = testing::error_text<DataError>([&] { parse({{"type", type}}); });
    EXPECT_NE(text.find(std::string("normalizer not supported: ") + type), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace titan::data
