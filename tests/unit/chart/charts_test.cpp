#include "core/chart/charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace titan::chart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(AxisTest, TicksAreRound) {
  EXPECT_THAT(ticks(0, 10, 5, Unit::number), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(0, 4096, 4, Unit::bytes), ElementsAre(0, 1024, 2048, 3072, 4096));
  EXPECT_THAT(ticks(1, 3, 7, Unit::count), ElementsAre(1, 2, 3));
  EXPECT_THAT(ticks(1, 1, 5, Unit::number), IsEmpty());
  EXPECT_THAT(ticks(0, std::numeric_limits<double>::infinity(), 5, Unit::number), IsEmpty());
  EXPECT_EQ(number_text(1024, Unit::bytes), "1 KiB");
  EXPECT_EQ(number_text(8e-5, Unit::number), "8e-05");
}

TEST(LineChartTest, ALineBreaksWhereAValueIsMissing) {
  const std::string svg =
      render(LineChart{"t", "step", Unit::count, Unit::number, {{"a", {1, 2, 3, 4, 5}, {1, 2, std::nan(""), 4, 5}}}});
  EXPECT_EQ(count(svg, "<path"), 1);
  const std::string path = svg.substr(svg.find("<path"));
  EXPECT_EQ(count(path.substr(0, path.find("fill")), "M"), 2);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(LineChartTest, OneValueIsADotAndNoneIsSaid) {
  EXPECT_EQ(count(render(LineChart{"t", "step", Unit::count, Unit::number, {{"a", {1}, {2}}}}), "<circle"), 1);
  EXPECT_THAT(render(LineChart{"t", "step", Unit::count, Unit::number, {{"a", {1}, {std::nan("")}}}}),
              HasSubstr("no finite values"));
}

TEST(LineChartTest, LongLinesKeepTheirExtremes) {
  Series series{"a", {}, {}};
  for (int i = 0; i < 100'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54'321 ? 1000 : 1);
  }
  const std::string svg = render(LineChart{"t", "step", Unit::count, Unit::number, {series}});
  EXPECT_LT(svg.size(), 60'000U);
  EXPECT_THAT(svg, HasSubstr(" 30L"));  // the top of the field
}

TEST(StackedChartTest, BandsAreNamedAndEscaped) {
  StackedChart chart{"<t>", "step", Unit::number, Unit::bytes, {1, 2}, {{"a<b", {}, {1, 2}}, {"c", {}, {3, 4}}}};
  EXPECT_EQ(count(render(chart), "<path"), 2);
  EXPECT_THAT(render(chart), HasSubstr("a&lt;b"));
  chart.is_bars = true;
  EXPECT_EQ(count(render(chart), "<rect"), 4 + 2);
  EXPECT_THAT(render(chart), HasSubstr("<rect x=\"115\""));  // in the field, half the space of a bar from its side
  EXPECT_THAT(render(StackedChart{}), HasSubstr("nothing to show"));
}

TEST(LaneChartTest, TimeBeginsWithTheFirstBar) {
  const std::string svg = render(
      LaneChart{"t", {{"rank 0", {{1000, 1001, 0, "one"}}}, {"rank 1", {{1001, 1002, 1, "two & three"}}}}, {"x", "y"}});
  EXPECT_THAT(svg, HasSubstr("<title>two &amp; three</title>"));
  EXPECT_THAT(svg, HasSubstr(">0 s</text>"));
  EXPECT_EQ(count(svg, "<rect"), 4);
  EXPECT_THAT(render(LaneChart{"t", {{"rank 0", {}}}, {}}), HasSubstr("nothing to show"));
}

TEST(SparklineTest, IsAsHighAsItsValues) {
  EXPECT_EQ(sparkline({0, 7, 14}, 80), "▁▅█");
  EXPECT_EQ(sparkline({1, 9, 1, 1}, 2), "█▂");
  EXPECT_EQ(sparkline({}, 80), "");
  EXPECT_EQ(sparkline({0}, 80), "▁");
}

}  // namespace
}  // namespace titan::chart
