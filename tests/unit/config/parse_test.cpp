#include "core/config/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "core/config/option_builder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

std::string refusal(const Option& option, std::string_view text) {
  const test::Thrown thrown = test::thrown_by([&] { return parse_value(option, text); });
  EXPECT_EQ(thrown.exit, Exit::config) << text;
  return thrown.message;
}

const Option kInteger = integer("a.b", 1, "");
const Option kFloating = floating("a.b", 1.0, "");
const Option kText = text("a.b", "x", "");
const Option kTexts = texts("a.b", {}, "");

TEST(ParseTest, BooleansInAnyCase) {
  const Option option = boolean("a.b", false, "");
  for (const char* yes : {"true", "True", "TRUE"}) EXPECT_EQ(parse_value(option, yes), Value(true));
  for (const char* no : {"false", "False", "fALSE"}) EXPECT_EQ(parse_value(option, no), Value(false));
  for (const char* wrong : {"1", "0", "yes", "no", "", " true", "t", "None"}) {
    EXPECT_THAT(refusal(option, wrong), HasSubstr("expected true or false, got \""));
  }
}

TEST(ParseTest, Integers) {
  EXPECT_EQ(parse_value(kInteger, "42"), Value(std::int64_t{42}));
  EXPECT_EQ(parse_value(kInteger, "+42"), Value(std::int64_t{42}));
  EXPECT_EQ(parse_value(kInteger, "-0"), Value(std::int64_t{0}));
  EXPECT_EQ(parse_value(kInteger, "9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(parse_value(kInteger, "-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(refusal(kInteger, "1e-3"), "expected an integer, got \"1e-3\"");
  for (const char* wrong : {"", " 1", "1 ", "1.0", "0x10", "1_000", "+-1", "--1", "+", "nan", "None", "ten", "１"}) {
    EXPECT_THAT(refusal(kInteger, wrong), HasSubstr("expected an integer, got \"")) << wrong;
  }
  EXPECT_THAT(refusal(kInteger, "9223372036854775808"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(refusal(kInteger, std::string(100'000, '9')), HasSubstr("more bytes"));
}

TEST(ParseTest, Floats) {
  EXPECT_EQ(parse_value(kFloating, "1e-3"), Value(1e-3));
  EXPECT_EQ(parse_value(kFloating, "3"), Value(3.0));
  EXPECT_EQ(parse_value(kFloating, "+.5"), Value(0.5));
  EXPECT_EQ(parse_value(kFloating, "-1E6"), Value(-1e6));
  for (const char* wrong : {"", "nan", "inf", "-inf", "1,5", "1e", "x", "0x1p3", "1.0f", "None"}) {
    EXPECT_THAT(refusal(kFloating, wrong), HasSubstr("expected a finite number, got \"")) << wrong;
  }
  EXPECT_THAT(refusal(kFloating, "1e400"), HasSubstr("which a double cannot hold"));
}

TEST(ParseTest, RangesAreNamedAndKept) {
  const Option count = integer("a.b", 1, "").at_least(1).at_most(5);
  EXPECT_EQ(parse_value(count, "5"), Value(std::int64_t{5}));
  EXPECT_EQ(refusal(count, "0"), "expected an integer of at least 1 and at most 5, got 0");
  EXPECT_EQ(refusal(count, "6"), "expected an integer of at least 1 and at most 5, got 6");
  const Option share = floating("a.b", 0.5, "").above(0).below(1);
  EXPECT_EQ(refusal(share, "0"), "expected a finite number above 0 and below 1, got 0");
  EXPECT_EQ(refusal(share, "1"), "expected a finite number above 0 and below 1, got 1");
  EXPECT_EQ(expectation(floating("a.b", 0.5, "").at_most(1)), "a finite number of at most 1");
  EXPECT_EQ(expectation(floating("a.b", 0.5, "").below(1)), "a finite number below 1");
}

TEST(ParseTest, RangesOfLargeIntegersAreExact) {
  // 2^53 + 1 is no double.
  const Option count = integer("a.b", 1, "").at_most(9007199254740992.0);
  EXPECT_EQ(parse_value(count, "9007199254740992"), Value(std::int64_t{9007199254740992}));
  refusal(count, "9007199254740993");
}

TEST(ParseTest, ChoicesSuggestTheNearest) {
  const Option option = text("a.b", "float32", "").one_of({"float32", "bfloat16"});
  EXPECT_EQ(parse_value(option, "bfloat16"), Value("bfloat16"));
  EXPECT_EQ(refusal(option, "bfloat_16"),
            "expected one of float32, bfloat16, got \"bfloat_16\"; did you mean bfloat16?");
  EXPECT_EQ(refusal(option, ""), "expected one of float32, bfloat16, got \"\"");
}

TEST(ParseTest, TextsMayBeEmptyOrOfAnyLanguage) {
  EXPECT_EQ(parse_value(kText, ""), Value(""));
  EXPECT_EQ(parse_value(kText, "None"), Value("None")) << "not nullable: a text like any other";
  EXPECT_EQ(parse_value(kText, "grüße \"🦙\" # = '"), Value("grüße \"🦙\" # = '"));
  EXPECT_THAT(refusal(kText, "a\xff"), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(refusal(kText, std::string_view("a\0b", 3)), HasSubstr("NUL"));
}

TEST(ParseTest, PathsMustNotBeEmpty) {
  const Option option = path("a.b", "x", "");
  EXPECT_EQ(parse_value(option, "../a b/$(x)"), Value("../a b/$(x)")) << "nothing is expanded";
  EXPECT_EQ(refusal(option, ""), "expected a path, got an empty text");
}

TEST(ParseTest, NoneIsAValueOfNullableOptionsOnly) {
  for (const Option& option : {Option(integer("a.b", std::nullopt, "")), Option(floating("a.b", std::nullopt, "")),
                               Option(path("a.b", std::nullopt, "")), Option(text("a.b", "x", "").nullable()),
                               Option(texts("a.b", {}, "").nullable()), Option(boolean("a.b", true, "").nullable())}) {
    EXPECT_EQ(parse_value(option, "None"), Value(std::monostate{}));
  }
  const Option option = integer("a.b", std::nullopt, "");
  EXPECT_EQ(refusal(option, "none"), "expected an integer or None, got \"none\"");
}

TEST(ParseTest, ListsAreCommaSeparatedOrJson) {
  EXPECT_EQ(parse_value(kTexts, "a"), Value(Texts{"a"}));
  EXPECT_EQ(parse_value(kTexts, "a, b ,c"), Value(Texts{"a", "b", "c"}));
  EXPECT_EQ(parse_value(kTexts, ""), Value(Texts{}));
  EXPECT_EQ(parse_value(kTexts, "[]"), Value(Texts{}));
  EXPECT_EQ(parse_value(kTexts, R"( ["a,b", "", " c"])"), Value(Texts{"a,b", "", " c"}));
  EXPECT_THAT(refusal(kTexts, "a,,b"), HasSubstr("which has an empty item"));
  EXPECT_THAT(refusal(kTexts, "[a-z]+"), HasSubstr("is read as a JSON array"));
  EXPECT_THAT(refusal(kTexts, "[1]"), HasSubstr("is read as a JSON array"));
  const Option few = texts("a.b", {}, "").one_of({"model", "loss"});
  EXPECT_EQ(parse_value(few, "loss,model"), Value(Texts{"loss", "model"}));
  EXPECT_EQ(refusal(few, "loss,modl"), "expected a list of: model, loss, got \"modl\"; did you mean model?");
}

TEST(ParseTest, CheckValueLooksAtTheType) {
  const auto message = [](const Option& option, const Value& value) {
    return test::thrown_by([&] { return check_value(option, value), 0; }).message;
  };
  EXPECT_EQ(message(kInteger, std::int64_t{1}), "");
  EXPECT_EQ(message(kInteger, 1.0), "expected an integer, got 1");
  EXPECT_EQ(message(kInteger, {}), "expected an integer, got None");
  EXPECT_EQ(message(kText, true), "expected a text, got true");
  EXPECT_EQ(message(kFloating, std::numeric_limits<double>::infinity()), "expected a finite number, got inf");
  EXPECT_EQ(message(text("a.b", std::nullopt, ""), "None"), "expected a text or None, got the text \"None\"");
}

TEST(ParseTest, GotTextIsSafeToPrint) {
  EXPECT_EQ(refusal(kInteger, "1\n\x1b[2J"), "expected an integer, got \"1\\n\\x1b[2J\"");
}

}  // namespace
}  // namespace titan::config
