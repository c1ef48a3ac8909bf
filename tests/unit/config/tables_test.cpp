#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/option_builder.hpp"
#include "core/config/parse.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& json) {
  const test::Thrown thrown = test::thrown_by([&] { return canonical_tables(json); });
  EXPECT_EQ(thrown.exit, Exit::config) << json;
  return thrown.message;
}

TEST(TablesTest, AreRewrittenInOneForm) {
  EXPECT_EQ(canonical_tables(" [ {\"b\" : 1, \"a\": [true, 2.50]},\n {} ]"), R"([{"a":[true,2.5],"b":1},{}])");
  EXPECT_EQ(canonical_tables("[]"), "[]");
  EXPECT_EQ(parse_value(tables("a.b", ""), R"([{"x": "ü"}])"), Value(R"([{"x":"ü"}])"));
}

TEST(TablesTest, OnlyArraysOfObjectsAreTables) {
  for (const char* json : {"{}", "[1]", "[[]]", "null", "\"x\"", "[{}, 1]"}) {
    EXPECT_THAT(refusal(json), HasSubstr("expected a list of tables")) << json;
  }
  EXPECT_THAT(refusal("[{\"a\": }]"), HasSubstr("value:1:8"));
  EXPECT_THAT(refusal(""), HasSubstr("expected a list of tables"));
}

TEST(TablesTest, RefuseWhatTomlCannotHold) {
  EXPECT_THAT(refusal(R"([{"a": {"deep": null}}])"), HasSubstr("null for key deep"));
  EXPECT_THAT(refusal(R"([{"a": [null]}])"), HasSubstr("null for key a"));
  EXPECT_THAT(refusal(R"([{"a": 18446744073709551615}])"), HasSubstr("18446744073709551615"));
  EXPECT_THAT(refusal(R"([{"a": 1e999}])"), HasSubstr("expected a list of tables"));
  EXPECT_EQ(canonical_tables(R"([{"a": 9223372036854775807}])"), R"([{"a":9223372036854775807}])");
}

TEST(TablesTest, DeepNestingIsRefused) {
  const std::string deep = "[{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}]";
  EXPECT_THAT(refusal(deep), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace titan::config
