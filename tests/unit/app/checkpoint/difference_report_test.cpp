#include <gmock/gmock.h>

#include <cmath>

#include "core/app/checkpoint/difference.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DifferenceReportTest, NothingIsSaidOfNothing) { EXPECT_EQ(difference_text({}), ""); }

TEST(DifferenceReportTest, EachKindHasItsTitle) {
  Difference difference;
  difference.only_a = {"a"};
  difference.only_b = {"b"};
  difference.shapes = {"c: [1] and [2]"};
  difference.dtypes = {"d: float32 and bfloat16"};
  difference.values = {{"e", 3, 0.25, INFINITY}};
  EXPECT_EQ(difference_text(difference),
            "only in A:\n  a\nonly in B:\n  b\nshapes that differ:\n  c: [1] and [2]\n"
            "dtypes that differ:\n  d: float32 and bfloat16\nvalues that differ, the worst first:\n"
            "  tensor  max |a-b|  of max |b|  elements\n  e       0.25       inf         3\n");
}

TEST(DifferenceReportTest, ListsEnd) {
  Difference difference;
  for (int i = 0; i < 23; ++i) {
    difference.only_a.push_back(concat("name", i));
    difference.values.push_back({concat("value", i), 1, 1, 1});
  }
  const std::string text = difference_text(difference);
  EXPECT_THAT(text, HasSubstr("  name19\n  and 3 more\n"));
  EXPECT_THAT(text, Not(HasSubstr("name20")));
  EXPECT_THAT(text, Not(HasSubstr("value20")));
}

TEST(DifferenceReportTest, NamesCannotWriteOnTheTerminal) {
  Difference difference;
  difference.only_a = {"a\x1b[2J"};
  difference.values = {{"b\n", 1, 1, 1}};
  const std::string text = difference_text(difference);
  EXPECT_THAT(text, HasSubstr("a\\x1b[2J\n"));
  EXPECT_THAT(text, HasSubstr("b\\n "));
}

TEST(DifferenceReportTest, TheSummaryCountsWhatMatters) {
  Difference difference;
  difference.only_b = {"b", "c"};
  difference.dtypes = {"d"};
  difference.values = {{"e", 1, 1, 0.5}, {"f", 1, 1, 0.1}};
  EXPECT_EQ(difference_summary(difference, std::nullopt),
            "tensors: 2 only in B, 1 of another dtype, 2 of other values");
  EXPECT_EQ(difference_summary(difference, 0.2), "tensors: 2 only in B, 1 beyond the tolerance");
}

}  // namespace
}  // namespace titan::app
