#include "core/base/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/base/thrown.hpp"

namespace titan {
namespace {

using test::Thrown;
using test::thrown_by;

std::string message_for(std::string_view text, const JsonLimits& limits = {}) {
  const Thrown thrown = thrown_by([&] { return parse_json(text, "a.json", limits); });
  EXPECT_EQ(thrown.exit, Exit::data) << text;
  return thrown.message;
}

TEST(JsonTest, ParsesAValue) {
  const nlohmann::json value = parse_json(R"({"a": [1, 2.5, "x\"}]"]})", "a.json");
  EXPECT_EQ(value.at("a").size(), 3U);
  EXPECT_EQ(value.at("a")[2], "x\"}]");
}

TEST(JsonTest, ErrorsNameLineAndColumn) {
  EXPECT_NE(message_for("{\n  \"a\": 1,\n  \"b\": tru\n}").find("a.json:3:"), std::string::npos);
  EXPECT_NE(message_for("{\"a\": 1").find("a.json:1:"), std::string::npos);
  EXPECT_NE(message_for("").find("a.json:1:1: "), std::string::npos);
  EXPECT_NE(message_for("[1] x").find("a.json:1:5: "), std::string::npos) << message_for("[1] x");
}

TEST(JsonTest, ATextMayBeginInALaterLine) {
  const auto message = [](std::string_view text) {
    return thrown_by([&] { parse_json(text, "rows.jsonl", {}, 7); }).message;
  };
  EXPECT_NE(message("{\"a\": tru}").find("rows.jsonl:7:"), std::string::npos);
  EXPECT_NE(message("{\n]").find("rows.jsonl:8:1: "), std::string::npos) << message("{\n]");
  EXPECT_NE(message("[1e999]").find("rows.jsonl:7:1: "), std::string::npos) << message("[1e999]");
}

TEST(JsonTest, RefusesWhatDoesNotFit) {
  EXPECT_NE(message_for("[1e999]").find("a.json"), std::string::npos);
  EXPECT_NE(message_for("\"\xff\"").find("a.json:1:"), std::string::npos);
  EXPECT_NE(message_for(std::string_view("{}\0 x", 5)).find("a NUL in the text"), std::string::npos);
  EXPECT_NE(message_for("[1, 2]", {.bytes = 3, .depth = 4}).find("limit 3 bytes"), std::string::npos);
}

TEST(JsonTest, RefusesDeepNestingAtItsPlace) {
  EXPECT_NO_THROW(parse_json("[[[[]]], {\"[\": \"[[[[[[\"}]", "a.json", {.bytes = 100, .depth = 4}));
  EXPECT_NE(message_for("[[[[[]]]]]", {.bytes = 100, .depth = 4}).find("a.json:1:5: nested too deeply: limit 4"),
            std::string::npos);
  const std::string bomb(10'000'000, '[');
  EXPECT_NE(message_for(bomb).find("nested too deeply"), std::string::npos);
}

TEST(JsonTest, MessagesAreSafeToPrint) {
  const std::string message = message_for("[\x1b[2J]");
  EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
}

TEST(JsonTest, PositionsCountFromOne) {
  EXPECT_EQ(position_of("ab\ncd", 0).line, 1U);
  EXPECT_EQ(position_of("ab\ncd", 0).column, 1U);
  EXPECT_EQ(position_of("ab\ncd", 4).line, 2U);
  EXPECT_EQ(position_of("ab\ncd", 4).column, 2U);
  EXPECT_EQ(position_of("ab\ncd", 99).line, 2U);
}

}  // namespace
}  // namespace titan
