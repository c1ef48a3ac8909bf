#include "core/config/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::config {
namespace {

test::Thrown thrown_by(const Problems& problems) {
  return test::thrown_by([&] { return problems.throw_if_any(), 0; });
}

TEST(ProblemsTest, NothingIsNoProblem) {
  const Problems problems;
  EXPECT_TRUE(problems.empty());
  EXPECT_NO_THROW(problems.throw_if_any());
}

TEST(ProblemsTest, OneStandsOnOneLine) {
  Problems problems;
  problems.add_value("run.toml:1:2: bad");
  EXPECT_EQ(thrown_by(problems).message, "[config] run.toml:1:2: bad");
  EXPECT_EQ(thrown_by(problems).exit, Exit::config);
}

TEST(ProblemsTest, SeveralStandBelowEachOther) {
  Problems problems;
  problems.add_value("one");
  problems.add_value("two");
  EXPECT_EQ(thrown_by(problems).message, "[config] 2 problems:\n  one\n  two");
}

TEST(ProblemsTest, AFlagAmongThemIsAUsageError) {
  Problems problems;
  problems.add_value("one");
  problems.add_usage("--x: unknown option");
  problems.add_value("two");
  EXPECT_EQ(thrown_by(problems).exit, Exit::usage);
}

TEST(ProblemsTest, FloodsAreCut) {
  Problems problems;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(problems.shows_more(), i < 20);
    problems.add_value("x");
  }
  const std::string message = thrown_by(problems).message;
  EXPECT_THAT(message, ::testing::HasSubstr("1000 problems:"));
  EXPECT_THAT(message, ::testing::EndsWith("\n  and 980 more"));
  EXPECT_EQ(split(message, '\n').size(), 22U);
}

}  // namespace
}  // namespace titan::config
