#include "plugins/observability/json_line.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace titan::observability {
namespace {

TEST(JsonLine, WritesNamesAndValuesInOrder) {
  EXPECT_EQ(JsonLine().add("a", std::int64_t{-3}).add("b", 0.5).add("c", "x").add_null("d").line(),
            "{\"a\": -3, \"b\": 0.5, \"c\": \"x\", \"d\": null}\n");
  EXPECT_EQ(JsonLine().object(), "{}");
  EXPECT_EQ(JsonLine().add_json("a", "[1, 2]").object(), "{\"a\": [1, 2]}");
}

TEST(JsonLine, WhatIsNotANumberIsNull) {
  EXPECT_EQ(JsonLine().add("a", std::numeric_limits<double>::infinity()).object(), "{\"a\": null}");
  EXPECT_EQ(JsonLine().add("a", std::optional<double>()).object(), "{\"a\": null}");
}

TEST(JsonLine, EveryTextIsValidJson) {
  const std::string text = "quote \" slash \\ newline \n tab \t umlaut \xc3\xa4";
  EXPECT_EQ(nlohmann::json::parse(JsonLine().add("a", text).object())["a"], text);
  const std::string line = JsonLine().add("a", std::string_view("broken \xff byte")).line();
  EXPECT_TRUE(nlohmann::json::parse(line)["a"].is_string());
}

TEST(JsonLine, ResumeKeepsRowsOfEarlierSteps) {
  EXPECT_TRUE(is_kept("{\"step\": 4, \"loss\": 1}", 5));
  EXPECT_FALSE(is_kept("{\"step\": 5, \"loss\": 1}", 5));
  EXPECT_FALSE(is_kept("{\"loss\":1,\"step\":50}", 5));
  EXPECT_TRUE(is_kept("{\"note\": \"no step\"}", 5));
  EXPECT_TRUE(is_kept("not a row", 5));
}

}  // namespace
}  // namespace titan::observability
