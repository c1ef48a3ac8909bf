#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/toml_reader.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

std::string refusal(const std::string& text) {
  const test::Thrown thrown = test::thrown_by([&] { return check_toml_limits(text, "x.toml"), 0; });
  EXPECT_EQ(thrown.exit, Exit::config);
  return thrown.message;
}

TEST(TomlLimitsTest, OrdinaryFilesPass) {
  EXPECT_NO_THROW(check_toml_limits("", "x"));
  EXPECT_NO_THROW(check_toml_limits("a.b = [1, {c = '''x''', d = \"\\\"[[[\"}] # [[[[\n[x.y]\n", "x"));
}

TEST(TomlLimitsTest, Size) {
  EXPECT_NO_THROW(check_toml_limits(repeated("#", kTomlMaxBytes), "x"));
  EXPECT_EQ(refusal(repeated("#", kTomlMaxBytes + 1)), "x.toml:1:1: invalid TOML: larger than 1048576 bytes");
}

TEST(TomlLimitsTest, Depth) {
  EXPECT_NO_THROW(check_toml_limits("a = " + repeated("[", 32) + repeated("]", 32), "x"));
  EXPECT_EQ(refusal("a = " + repeated("[", 33)), "x.toml:1:37: invalid TOML: nested more than 32 deep");
  EXPECT_THAT(refusal("a = " + repeated("[", 10'000)), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(refusal("a = " + repeated("{a=", 10'000)), HasSubstr("nested more than 32 deep"));
}

TEST(TomlLimitsTest, BracketsInStringsAndCommentsDoNotCount) {
  const std::string many = repeated("[", 100);
  for (const std::string& text : {"a = \"" + many + "\"", "a = '" + many + "'", "a = \"\"\"\n" + many + "\"\"\"",
                                  "a = '''\n" + many + "'''", "# " + many, "a = \"\\\"" + many + "\""}) {
    EXPECT_NO_THROW(check_toml_limits(text, "x")) << text;
  }
}

TEST(TomlLimitsTest, LinesEndOrdinaryStrings) {
  EXPECT_THAT(refusal("a = \"open\nb = " + repeated("[", 40)), HasSubstr("x.toml:2:37"));
}

TEST(TomlLimitsTest, PartsOfAKey) {
  EXPECT_NO_THROW(check_toml_limits("a" + repeated(".a", 32) + " = 1", "x"));
  EXPECT_THAT(refusal("a" + repeated(".a", 33) + " = 1"), HasSubstr("key has more than 32 parts"));
  EXPECT_THAT(refusal("[a" + repeated(" . \"b\"", 10'000) + "]"), HasSubstr("key has more than 32 parts"));
  EXPECT_NO_THROW(check_toml_limits("a = [" + repeated("1.5, ", 100) + "]", "x")) << "points of numbers";
}

TEST(TomlLimitsTest, NumberOfValues) {
  EXPECT_NO_THROW(check_toml_limits(repeated("a=1\n", 4000), "x"));
  EXPECT_EQ(refusal(repeated("a=1\n", 4001)), "x.toml:4001:2: invalid TOML: more than 4000 values");
  EXPECT_THAT(refusal("a = [" + repeated("1,", 5000) + "]"), HasSubstr("more than 4000 values"));
  EXPECT_THAT(refusal(repeated("[a]\n", 5000)), HasSubstr("more than 4000 values"));
}

TEST(TomlLimitsTest, Encoding) {
  EXPECT_EQ(refusal("a = 1\nb = \"\xff\""), "x.toml:2:6: invalid TOML: not valid UTF-8");
  EXPECT_EQ(refusal(std::string("a\0b", 3)), "x.toml:1:2: invalid TOML: NUL character");
}

}  // namespace
}  // namespace titan::config
