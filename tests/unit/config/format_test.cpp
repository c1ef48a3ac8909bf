#include "core/config/format.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "core/config/option_builder.hpp"
#include "core/config/parse.hpp"
#include "core/config/toml_values.hpp"

namespace titan::config {
namespace {

using Texts = std::vector<std::string>;

struct Case {
  Option option;
  std::vector<Value> values;
};

std::vector<Case> cases() {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const Texts odd = {"a,b", "", " c ", "[", "None", "\"", "\\", "ü🦙", "x\n\t\x01"};
  return {
      {boolean("a.b", false, ""), {true, false}},
      {integer("a.b", std::nullopt, ""), {std::int64_t{0}, std::int64_t{-7}, INT64_MAX, INT64_MIN, {}}},
      {floating("a.b", std::nullopt, ""), {0.1, 1.0, -0.0, 1e22, 1e-8, 123456789.0, tiny, 1.7976931348623157e308, {}}},
      {text("a.b", "x", ""),
       {"", "plain", "None", "quo\"te's", "back\\slash", "line\nbreak\ttab\r", "ü 🦙 \u202e \x7f \u0085"}},
      {text("a.b", std::nullopt, ""), {"", "x", "none", {}}},
      {path("a.b", std::nullopt, ""), {"./a b", "#", {}}},
      {texts("a.b", {}, ""), {Texts{}, Texts{"a"}, Texts{"a", "b"}, odd, Texts{"None"}}},
      {texts("a.b", Texts{}, "").nullable(), {Texts{"None"}, Texts{}, {}}},
      {tables("a.b", ""),
       {"[]", R"([{}])", R"([{"a b":"ü\n","k":{"x":[1,2.5,true,[]]}},{"":{}}])", R"([{"lr":1e-08,"n":1.0}])"}},
  };
}

TEST(FormatTest, TextReadsBackEqual) {
  for (const Case& item : cases()) {
    for (const Value& value : item.values) {
      EXPECT_EQ(parse_value(item.option, to_text(value)), value)
          << type_name(item.option.type) << ": " << to_text(value);
    }
  }
}

TEST(FormatTest, TomlReadsBackEqual) {
  for (const Case& item : cases()) {
    for (const Value& value : item.values) {
      const std::string line = "x = " + to_toml(item.option, value);
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      const TomlTable table = read_toml(line, "x.toml");
      EXPECT_EQ(value_from_toml(item.option, table.at(0).value), value) << line;
    }
  }
}

TEST(FormatTest, FloatsKeepTheirPointAndSign) {
  const Option option = floating("a.b", 1.0, "");
  EXPECT_EQ(to_toml(option, 1.0), "1.0");
  EXPECT_EQ(to_toml(option, -0.0), "-0.0");
  EXPECT_EQ(to_toml(option, 1e22), "1e+22");
  EXPECT_EQ(to_toml(option, 0.1), "0.1");
}

TEST(FormatTest, StringsAreSafeToPrint) {
  EXPECT_EQ(toml_string("a\x1b[2J\n\"\\"), R"("a\u001B[2J\u000A\"\\")");
  EXPECT_EQ(toml_string("\u202e"), R"("\u202E")");
  EXPECT_EQ(toml_string("ü🦙"), "\"ü🦙\"");
}

TEST(FormatTest, KeysAreQuotedWhereNeeded) {
  EXPECT_EQ(toml_key("a-b_C1"), "a-b_C1");
  EXPECT_EQ(toml_key("a.b"), "\"a.b\"");
  EXPECT_EQ(toml_key(""), "\"\"");
}

TEST(FormatTest, TypesHaveNames) {
  EXPECT_EQ(type_name(Type::floating), "float");
  EXPECT_EQ(type_name(Type::strings), "list of texts");
}

}  // namespace
}  // namespace titan::config
