#include "core/base/json_pieces.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/json.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan {
namespace {

using test::Thrown;
using test::thrown_by;

std::string message_for(std::string_view text, const JsonPieceLimits& limits = {}) {
  const Thrown thrown = thrown_by([&] { return parse_strict_json(text, "a.json", limits); });
  EXPECT_EQ(thrown.exit, Exit::data) << text;
  return thrown.message;
}

TEST(JsonPiecesTest, TellsWhatEndsFromTheInsideOut) {
  std::vector<std::string> told;
  const nlohmann::json rest = parse_json_in_pieces(R"({"a": {"b": [1, {"c": true}], "d": null}, "e": [[-2]]})",
                                                   "a.json", [&](auto path, const nlohmann::json& value) {
                                                     std::string text;
                                                     for (const std::string& name : path) text += name + ".";
                                                     told.push_back(text + value.dump());
                                                     return false;
                                                   });
  EXPECT_EQ(told, (std::vector<std::string>{R"(a.b.{"c":true})", R"(a.b.[1,{"c":true}])",
                                            R"(a.{"b":[1,{"c":true}],"d":null})", "e.[-2]", "e.[[-2]]",
                                            R"({"a":{"b":[1,{"c":true}],"d":null},"e":[[-2]]})"}));
  EXPECT_EQ(rest, parse_json(R"({"a": {"b": [1, {"c": true}], "d": null}, "e": [[-2]]})", "a.json"));
}

TEST(JsonPiecesTest, KeepsNothingOfWhatIsTaken) {
  const auto take_items = [](auto path, const nlohmann::json& value) { return path.size() == 1 && value.is_object(); };
  EXPECT_EQ(parse_json_in_pieces(R"({"a": [1, {"b": 2}, 3, {}], "c": {"d": 4}})", "a.json", take_items),
            (nlohmann::json{{"a", {1, 3}}}));
  EXPECT_TRUE(parse_json_in_pieces("{}", "a.json", [](auto, auto&) { return true; }).is_null());
}

TEST(JsonPiecesTest, ParsesWhatTheTreeParserParses) {
  for (const char* text : {"1", "-1.5e3", "\"x\\u00e9\"", "null", "[]", "[true, false, [[], {}]]", "{\"\": {\"\": 1}}",
                           "18446744073709551615", " \n[1] "}) {
    EXPECT_EQ(parse_strict_json(text, "a.json"), parse_json(text, "a.json")) << text;
  }
}

TEST(JsonPiecesTest, RefusesANameThatIsTwiceInAnObject) {
  EXPECT_NE(message_for(R"({"a": 1, "b": {"a": 2}, "a": 3})").find("a.json: a name is twice in an object: a"),
            std::string::npos);
  EXPECT_NO_THROW(parse_strict_json(R"([{"a": 1}, {"a": {"a": 2}}])", "a.json"));
}

TEST(JsonPiecesTest, RefusesANameThatIsTwiceWhereverItsValuesWent) {
  const auto take_objects = [](auto path, const nlohmann::json& value) {
    return path.size() == 1 && value.is_object();
  };
  for (const char* text : {R"({"a": {"b": 1}, "a": [2]})", R"({"a": [2], "a": {"b": 1}})", R"({"a": {}, "a": {}})"}) {
    const Thrown thrown = thrown_by([&] { return parse_json_in_pieces(text, "a.json", take_objects); });
    EXPECT_NE(thrown.message.find("a.json: a name is twice in an object: a"), std::string::npos) << text;
  }
  EXPECT_NO_THROW(parse_json_in_pieces(R"({"a": [{}, {}], "b": {}})", "a.json", take_objects));
}

TEST(JsonPiecesTest, ErrorsNameLineAndColumn) {
  EXPECT_NE(message_for("{\n  \"a\": 1,\n  \"b\": tru\n}").find("a.json:3:"), std::string::npos);
  EXPECT_NE(message_for("").find("a.json:1:1: "), std::string::npos);
  EXPECT_NE(message_for("[1] x").find("a.json:1:5: "), std::string::npos) << message_for("[1] x");
  EXPECT_NE(message_for("[1e999]").find("a.json:1:"), std::string::npos) << message_for("[1e999]");
  EXPECT_NE(message_for("\"\xff\"").find("a.json:1:"), std::string::npos);
  EXPECT_NE(message_for(std::string_view("{}\0 x", 5)).find("a NUL in the text"), std::string::npos);
}

TEST(JsonPiecesTest, KeepsToItsLimits) {
  EXPECT_NE(message_for("[1, 2]", {.bytes = 3, .depth = 4}).find("limit 3 bytes"), std::string::npos);
  EXPECT_NO_THROW(parse_strict_json("[[[[]]], {\"[\": \"[[[[[[\"}]", "a.json", {.bytes = 100, .depth = 4}));
  EXPECT_NE(message_for("[[[[[]]]]]", {.bytes = 100, .depth = 4}).find("nested too deeply: limit 4"),
            std::string::npos);
  EXPECT_NE(message_for("[1, [2, 3], 4]", {.kept = 5}).find("more values than allowed: limit 5"), std::string::npos);
  const auto take_arrays = [](auto path, auto&) { return path.size() == 1; };
  EXPECT_NO_THROW(parse_json_in_pieces(R"({"a": [1, 2, 3], "b": [4, 5, 6]})", "a.json", take_arrays, {.kept = 4}));
  EXPECT_NE(message_for(std::string(10'000'000, '[')).find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace titan
