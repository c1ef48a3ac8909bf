#include "core/app/compare/compare_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/base/thrown.hpp"

namespace titan::app {
namespace {

using testing::HasSubstr;

CompareRequest request(const config::Words& words) {
  config::Registry registry;
  const config::Verb verb{.name = "compare",
                          .summary = "Compare.",
                          .flags = compare_flags(),
                          .positionals = {"A", "[B]"},
                          .takes_options = false};
  config::Problems problems;
  const config::CommandLine line = config::read_command_line(registry, verb, "", words, problems);
  problems.throw_if_any();
  return compare_request(line);
}

std::string refusal(const config::Words& words) {
  const auto thrown = titan::test::thrown_by([&] { request(words); });
  EXPECT_EQ(thrown.exit, Exit::usage);
  return thrown.message;
}

TEST(CompareRequestTest, TwoRunsAreComparedExactly) {
  const CompareRequest found = request({"a", "b"});
  EXPECT_EQ(found.runs, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(found.criteria.size(), 2U);
  EXPECT_EQ(found.criteria[0].column, "loss");
  EXPECT_EQ(found.criteria[0].tolerance, 0);
  EXPECT_EQ(found.criteria[1].column, "grad_norm");
  EXPECT_FALSE(found.columns_are_given);
  EXPECT_FALSE(found.range.last);
  EXPECT_FALSE(found.range.common_only);
}

TEST(CompareRequestTest, OneRunNeedsAReference) {
  EXPECT_EQ(request({"a", "--import", "ref.json"}).stored, "ref.json");
  EXPECT_EQ(request({"a", "--export", "ref.json"}).written, "ref.json");
  EXPECT_THAT(refusal({"a"}), HasSubstr("expected two runs"));
  EXPECT_THAT(refusal({}), HasSubstr("expected two runs"));
  EXPECT_THAT(refusal({"--import", "ref.json"}), HasSubstr("expected two runs"));
  EXPECT_THAT(refusal({"a", "--import="}), HasSubstr("--import: the name of a file is missing"));
  EXPECT_THAT(refusal({"a", "b", "c"}), HasSubstr("unexpected argument"));
}

TEST(CompareRequestTest, TolerancesAreForAllOrOneColumn) {
  const CompareRequest found =
      request({"a", "b", "--tolerance", "grad_norm=1e-4", "--tolerance", "1e-6", "--columns", "loss,grad_norm,lr"});
  ASSERT_EQ(found.criteria.size(), 3U);
  EXPECT_EQ(found.criteria[0].tolerance, 1e-6);
  EXPECT_EQ(found.criteria[1].tolerance, 1e-4) << "whatever the order";
  EXPECT_EQ(found.criteria[2].tolerance, 1e-6);
  EXPECT_TRUE(found.columns_are_given);
}

TEST(CompareRequestTest, WrongTolerancesAreNamed) {
  for (const char* word : {"x", "-1", "nan", "inf", "loss=", "loss=x", "1e-6,", "=1"}) {
    EXPECT_THAT(refusal({"a", "b", std::string("--tolerance=") + word}), HasSubstr("--tolerance")) << word;
  }
  EXPECT_THAT(refusal({"a", "b", "--tolerance", "lr=1"}), HasSubstr("no such column is compared: \"lr\""));
}

TEST(CompareRequestTest, ColumnsAreNames) {
  for (const char* list : {"", "loss,", "loss,loss", "step", ","}) {
    EXPECT_THAT(refusal({"a", "b", std::string("--columns=") + list}), HasSubstr("--columns")) << list;
  }
}

TEST(CompareRequestTest, StepsAreCounted) {
  EXPECT_EQ(request({"a", "b", "--steps", "7"}).range.last, 7);
  EXPECT_TRUE(request({"a", "b", "--common-steps"}).range.common_only);
  EXPECT_TRUE(request({"a", "b", "--common_steps"}).range.common_only);
  for (const char* word : {"0", "-1", "x", "1.5", "99999999999999999999"}) {
    EXPECT_THAT(refusal({"a", "b", std::string("--steps=") + word}), HasSubstr("--steps: expected an integer")) << word;
  }
}

}  // namespace
}  // namespace titan::app
