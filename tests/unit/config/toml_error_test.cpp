#include "core/config/toml_error.hpp"

#include <gtest/gtest.h>

#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

TEST(TomlErrorTest, ReadsSentenceAndPlace) {
  const TomlComplaint complaint = read_toml_complaint(
      "[error] toml::parse_key_value_pair: missing value after key-value separator '='\n"
      " --> file\n   |\n 12 | a = \n    |     ^--- expected value, but got nothing");
  EXPECT_EQ(complaint.position.line, 12U);
  EXPECT_EQ(complaint.position.column, 5U);
  EXPECT_EQ(complaint.text, "missing value after key-value separator '=': expected value, but got nothing");
}

TEST(TomlErrorTest, TheLastQuotationIsThePlace) {
  const TomlComplaint complaint = read_toml_complaint(
      "[error] toml::insert_value: table (\"a\") already exists.\n --> file\n   |\n 1 | [a]\n   | ~~~ here first\n "
      "...\n"
      " 2 | [a]\n   | ~~~ table defined twice");
  EXPECT_EQ(complaint.position.line, 2U);
  EXPECT_EQ(complaint.position.column, 1U);
  EXPECT_EQ(complaint.text, "table (\"a\") already exists: table defined twice");
}

TEST(TomlErrorTest, SurvivesOtherForms) {
  EXPECT_EQ(read_toml_complaint("").position.line, 1U);
  EXPECT_EQ(read_toml_complaint("[error] toml::parse_hexadecimal_integer").text, "");
  EXPECT_EQ(read_toml_complaint("something else.").text, "something else");
  EXPECT_EQ(read_toml_complaint("x\n 3 |").position.line, 1U) << "a quotation without its second line";
  EXPECT_EQ(read_toml_complaint("x\n 3 |\n").position.column, 1U);
}

TEST(TomlErrorTest, FailureIsAConfigErrorSafeToPrint) {
  const test::Thrown thrown = test::thrown_by([]() -> int { fail_toml("a\nb.toml", {3, 4}, "why\x1b"); });
  EXPECT_EQ(thrown.exit, Exit::config);
  EXPECT_EQ(thrown.message, "a\\nb.toml:3:4: invalid TOML: why\\x1b");
}

}  // namespace
}  // namespace titan::config
