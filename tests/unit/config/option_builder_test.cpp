#include "core/config/option_builder.hpp"

#include <gtest/gtest.h>

namespace titan::config {
namespace {

TEST(OptionBuilderTest, WritesADeclaration) {
  const Option option = integer("a.b", 3, "Help.").above(1).at_most(9).shown_as("N").may_differ().owned_by("x");
  EXPECT_EQ(option.name, "a.b");
  EXPECT_EQ(option.type, Type::integer);
  EXPECT_EQ(option.default_value, Value(std::int64_t{3}));
  EXPECT_EQ(option.help, "Help.");
  EXPECT_EQ(option.min, 1.0);
  EXPECT_TRUE(option.min_exclusive);
  EXPECT_EQ(option.max, 9.0);
  EXPECT_FALSE(option.max_exclusive);
  EXPECT_EQ(option.metavar, "N");
  EXPECT_FALSE(option.must_match);
  EXPECT_EQ(option.owner, "x");
  EXPECT_FALSE(option.nullable);
}

TEST(OptionBuilderTest, AbsentDefaultMeansNone) {
  const Option option = path("a.b", std::nullopt, "");
  EXPECT_TRUE(option.nullable);
  EXPECT_EQ(option.default_value, Value());
  EXPECT_TRUE(option.must_match);
}

TEST(OptionBuilderTest, DefaultsHaveTheirTypes) {
  EXPECT_EQ(Option(boolean("a", true, "")).default_value, Value(true));
  EXPECT_EQ(Option(floating("a", 1.0, "")).default_value, Value(1.0));
  EXPECT_EQ(Option(text("a", "t", "")).default_value, Value("t"));
  EXPECT_EQ(Option(tables("a", "")).default_value, Value("[]"));
  EXPECT_EQ(Option(texts("a", {"t"}, "")).default_value, Value(std::vector<std::string>{"t"}));
}

}  // namespace
}  // namespace titan::config
