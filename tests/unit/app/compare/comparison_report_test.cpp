#include "core/app/compare/comparison_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/text.hpp"
#include "tests/unit/app/compare/tables.hpp"

namespace titan::app {
namespace {

using test::table;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string report(const RunTable& a, const RunTable& b, const std::vector<Criterion>& criteria,
                   const std::vector<SettingDifference>& settings = {}) {
  return comparison_report(a, b, compare(a, b, criteria, {}), settings);
}

TEST(ComparisonReportTest, NamesTheFirstDifference) {
  const RunTable a = table("fsdp2", {"loss"}, {{9}, {8}, {7.1234567}, {6}});
  const RunTable b = table("ddp2", {"loss"}, {{9}, {8}, {7.123457}, {6.5}});
  EXPECT_EQ(first_difference(compare(a, b, {{"loss"}}, {})),
            "first differing step 3: loss 7.1234567 vs 7.123457 (relative 4.2e-08)");
  EXPECT_EQ(first_difference(compare(a, a, {{"loss"}}, {})), "");
}

TEST(ComparisonReportTest, NamesBothRunsAndEachStep) {
  const RunTable a = table("fsdp2", {"loss"}, {{9}, {8}});
  const RunTable b = table("ddp2", {"loss"}, {{9}, {8.5}});
  EXPECT_EQ(report(a, b, {{"loss"}}, {{"parallelism.data_parallel_shard_degree", "2", "1"}, {"debug.seed", "", "7"}}),
            "comparing fsdp2 (A) with ddp2 (B): loss (exact)\n"
            "  A  fsdp2/metrics.jsonl: 2 steps, 1 to 2\n"
            "  B  ddp2/metrics.jsonl: 2 steps, 1 to 2\n"
            "settings that differ:\n"
            "  parallelism.data_parallel_shard_degree: 2 | 1\n"
            "  debug.seed: (none) | 7\n"
            "  step  loss A  loss B  relative\n"
            "  1     9       9       0\n"
            "  2 *   8       8.5     5.9e-02\n"
            "largest relative difference: loss 5.9e-02 at step 2\n"
            "first differing step 2: loss 8 vs 8.5 (relative 5.9e-02)\n");
}

TEST(ComparisonReportTest, SaysHowEqualTheyAre) {
  const RunTable a = table("a", {"loss", "grad_norm"}, {{9, 1}});
  const RunTable b = table("b", {"loss", "grad_norm"}, {{9, 1.0001}});
  EXPECT_THAT(report(a, a, {{"loss"}, {"grad_norm"}}), EndsWith("\nequal: 1 step\n"));
  const std::string within = report(a, b, {{"loss"}, {"grad_norm", 0.001}});
  EXPECT_THAT(within, HasSubstr("loss (exact), grad_norm (relative 0.001)"));
  EXPECT_THAT(within, HasSubstr("largest relative difference: loss 0, grad_norm 1.0e-04 at step 1"));
  EXPECT_THAT(within, EndsWith("\nequal within tolerance: 1 step\n"));
}

TEST(ComparisonReportTest, MissingStepsAndNumbersAreShown) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RunTable a = table("a", {"loss"}, {{9}, {nan}, {7}});
  const RunTable b = table("b", {"loss"}, {{9}, {8}});
  const std::string text = report(a, b, {{"loss"}});
  EXPECT_THAT(text, HasSubstr("2 *   not a number  8       -\n"));
  EXPECT_THAT(text, HasSubstr("3 *   only in A\n"));
  EXPECT_THAT(text, HasSubstr("first differing step 2: loss not a number vs 8\n"));
  const RunTable shorter = table("c", {"loss"}, {{9}});
  EXPECT_EQ(first_difference(compare(shorter, table("d", {"loss"}, {{9}, {8}}), {{"loss"}}, {})),
            "first differing step 2: only in B");
}

TEST(ComparisonReportTest, ALongRunHasACompactTable) {
  std::vector<std::vector<double>> rows(1000, {5.0});
  const RunTable a = table("a", {"loss"}, rows);
  rows[499] = {5.5};
  rows[799] = {6.0};
  const std::string text = report(a, table("b", {"loss"}, rows), {{"loss"}});
  EXPECT_LT(split(text, '\n').size(), 30U);
  for (const char* line : {"  1     ", "  498   ", "  500 * ", "  800 * ", "  1000  ", "\n  ...\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("\n  300 ")));
  EXPECT_THAT(text, HasSubstr("largest relative difference: loss 1.7e-01 at step 800"));
}

TEST(ComparisonReportTest, RowsThatWereWrittenAgainAreCounted) {
  RunTable a = table("a", {"loss"}, {{9}});
  a.num_repeated = 3;
  EXPECT_THAT(report(a, a, {{"loss"}}), HasSubstr("1 step, 1 to 1, 3 written again later: the later row counts"));
}

TEST(ComparisonReportTest, ManySettingsAreCut) {
  std::vector<SettingDifference> settings;
  for (int i = 0; i < 50; ++i) settings.push_back({concat("model.x", i), std::string(500, 'a'), "\x1b[2J"});
  const RunTable a = table("a", {"loss"}, {{9}});
  const std::string text = report(a, a, {{"loss"}}, settings);
  EXPECT_THAT(text, HasSubstr("  and 30 more\n"));
  EXPECT_THAT(text, ContainsRegex("more bytes\\) \\| \\\\x1b"));
}

}  // namespace
}  // namespace titan::app
