#include "core/checkpoint/json_document.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

/// Reads one value with a reader of fields, and returns the text of its DataError.
template <class Reader>
std::string refusal(const char* text, const Reader& read) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return testing::error_text<DataError>([&] { read(JsonField(json, "checkpoint", "a.json")); });
}

TEST(JsonDocumentTest, AsksForFormatAndVersion) {
  const auto read = [](const JsonField& field) { require_document(field, "titan.checkpoint"); };
  const nlohmann::json good{{"format", "titan.checkpoint"}, {"version", 1}};
  EXPECT_NO_THROW(read({good, "checkpoint", "a.json"}));
  EXPECT_NE(refusal("{}", read).find("a.json: missing field"), std::string::npos);
  EXPECT_NE(refusal(R"({"format": "pt", "version": 1})", read).find("expected \"titan.checkpoint\", found \"pt\""),
            std::string::npos);
  EXPECT_NE(refusal(R"({"format": "titan.checkpoint", "version": 0})", read).find("unknown version: 0"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"format": "titan.checkpoint", "version": "1"})", read).find("expected a whole number"),
            std::string::npos);
}

TEST(JsonDocumentTest, RefusesOtherMembers) {
  const auto read = [](const JsonField& field) { require_no_others(field, {"a", "b"}); };
  const nlohmann::json good{{"b", 1}};
  EXPECT_NO_THROW(read({good, "checkpoint", "a.json"}));
  EXPECT_NE(refusal(R"({"a": 1, "c": 2})", read).find("a.json: unknown field: \"c\""), std::string::npos);
}

TEST(JsonDocumentTest, SizesAreNumbersFromZeroOn) {
  const nlohmann::json good = nlohmann::json::parse("[0, 3, 9223372036854775807]");
  EXPECT_EQ(read_sizes({good, "checkpoint", "a"}), (std::vector<std::int64_t>{0, 3, INT64_MAX}));
  EXPECT_NE(refusal("[1, -1]", read_sizes).find("a.json[1]: number out of range: -1"), std::string::npos);
  EXPECT_NE(refusal("[1.5]", read_sizes).find("expected a whole number"), std::string::npos);
  EXPECT_NE(refusal("3", read_sizes).find("expected an array"), std::string::npos);
  const std::string many = nlohmann::json(std::vector<int>(65, 1)).dump();
  EXPECT_NE(refusal(many.c_str(), read_sizes).find("more than 64 dims"), std::string::npos);
}

TEST(JsonDocumentTest, BytesDigitsAndNamesOfFiles) {
  const nlohmann::json number = 5, digits = std::string(32, 'e'), name = "index.json";
  EXPECT_EQ(read_bytes({number, "checkpoint", "a"}), 5U);
  EXPECT_EQ(read_hexadecimal({digits, "checkpoint", "a"}), std::string(32, 'e'));
  EXPECT_EQ(read_file_name({name, "checkpoint", "a"}), "index.json");
  EXPECT_NE(refusal("18446744073709551615", read_bytes).find("number out of range"), std::string::npos);
  EXPECT_NE(refusal("\"abc\"", read_hexadecimal).find("expected 32 hexadecimal digits, found \"abc\""),
            std::string::npos);
  EXPECT_NE(refusal("\"0123456789ABCDEF0123456789abcdef\"", read_hexadecimal).find("expected 32"), std::string::npos);
  EXPECT_NE(refusal("\"../a\"", read_file_name).find("not the name of a file in the same folder: \"../a\""),
            std::string::npos);
}

}  // namespace
}  // namespace titan::checkpoint
