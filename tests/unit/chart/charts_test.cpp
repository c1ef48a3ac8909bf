#include "core/chart/charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace titan::chart {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

LineChart line(Series series) { return {"t", "step", Unit::count, Unit::number, {std::move(series)}}; }

TEST(LineChartTest, ALineBreaksWhereAValueIsMissing) {
  const std::string svg = render(line({"a", {1, 2, 3, 4, 5}, {1, 2, std::nan(""), 4, 5}}));
  EXPECT_EQ(count(svg, "<path"), 1);
  const std::string path = svg.substr(svg.find("<path"));
  EXPECT_EQ(count(path.substr(0, path.find("fill")), "M"), 2);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(LineChartTest, OneValueIsADotAndNoneIsSaid) {
  EXPECT_EQ(count(render(line({"a", {1}, {2}})), "<circle"), 1);
  EXPECT_THAT(render(line({"a", {1}, {std::nan("")}})), HasSubstr("no finite values"));
}

TEST(LineChartTest, LongLinesKeepTheirExtremes) {
  Series series{"a", {}, {}};
  for (int i = 0; i < 100'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54'321 ? 1000 : 1);
  }
  const std::string svg = render(line(series));
  EXPECT_LT(svg.size(), 60'000U);
  EXPECT_THAT(svg, HasSubstr(" 40L"));  // the top of the field
}

TEST(LineChartTest, DotsSayTheirValues) {
  EXPECT_THAT(render(line({"a", {1, 2}, {0.5, 2}})), HasSubstr("r=\"2.5\"><title>step 2: 2</title>"));
  Series many{"a", {}, {}};
  for (int i = 0; i < 150; ++i) {
    many.x.push_back(i);
    many.y.push_back(i);
  }
  EXPECT_EQ(count(render(line(many)), "fill-opacity=\"0\"><title>"), 150);
}

TEST(LineChartTest, AnAxisCanBeginAtZero) {
  LineChart chart = line({"a", {1, 2}, {100, 101}});
  EXPECT_THAT(render(chart), Not(HasSubstr(">0</text>")));
  chart.has_zero = true;
  EXPECT_THAT(render(chart), HasSubstr(">0</text>"));
}

TEST(StackedChartTest, BandsAreNamedAndEscaped) {
  StackedChart chart{"<t>", "step", Unit::number, Unit::bytes, {1, 2}, {{"a<b", {}, {1, 2}}, {"c", {}, {3, 4}}}};
  EXPECT_EQ(count(render(chart), "<path"), 2);
  EXPECT_THAT(render(chart), HasSubstr("a&lt;b"));
  chart.is_bars = true;
  EXPECT_EQ(count(render(chart), "<rect"), 4 + 2);
  EXPECT_THAT(render(chart), HasSubstr("<rect x=\"159\""));  // half the space of two from the side of the field
  EXPECT_THAT(render(StackedChart{.title = "t", .x_name = "step", .x = {}, .bands = {}}), HasSubstr("nothing to show"));
}

TEST(StackedChartTest, ALongTitleIsShortened) {
  StackedChart chart{std::string(200, 'w'), "step", Unit::count, Unit::seconds, {1}, {{"a", {}, {2}}}, true};
  EXPECT_THAT(render(chart), Not(HasSubstr(std::string(62, 'w'))));
  EXPECT_THAT(render(chart), HasSubstr(std::string(50, 'w')));
}

TEST(StackedChartTest, OneBarIsNoWiderThanOthers) {
  StackedChart chart{"t", "step", Unit::count, Unit::seconds, {1}, {{"a", {}, {2}}}, true};
  EXPECT_THAT(render(chart), HasSubstr("width=\"48\""));
  EXPECT_THAT(render(chart), Not(HasSubstr(">1.2</text>")));
}

TEST(LaneChartTest, TimeBeginsWithTheFirstBar) {
  const std::string svg = render(LaneChart{
      "t",
      "time",
      {{"rank 0", "", {{1000, 1001, 0, "one", "1"}}}, {"rank 1", "busy", {{1001, 1002, 1, "two & three", ""}}}},
      {{"x", 0}, {"y", 1}}});
  EXPECT_THAT(svg, HasSubstr("<title>two &amp; three</title>"));
  EXPECT_THAT(svg, HasSubstr(">0</text>"));
  EXPECT_EQ(count(svg, "<rect"), 4);
  EXPECT_THAT(render(LaneChart{"t", "time", {{"rank 0", "", {}}}, {}}), HasSubstr("nothing to show"));
}

TEST(LaneChartTest, BarsAreCutToWhatIsAskedFor) {
  LaneChart chart{"t", "time", {{"rank 0", "", {{0, 10, 0, "long", "a"}, {20, 21, 0, "later", "b"}}}}, {}, 5, 15};
  const std::string svg = render(chart);
  EXPECT_THAT(svg, HasSubstr("<title>long</title>"));
  EXPECT_THAT(svg, HasSubstr(">a</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("later")));
}

TEST(LaneChartTest, ALabelNeedsRoom) {
  LaneChart chart{"t", "time", {{"rank 0", "", {{0, 1, 0, "narrow", "label"}, {1, 1000, 0, "", ""}}}}, {}};
  EXPECT_THAT(render(chart), Not(HasSubstr(">label</text>")));
}

TEST(SparklineTest, IsAsHighAsItsValues) {
  EXPECT_EQ(sparkline({0, 7, 14}, 80), "▁▅█");
  EXPECT_EQ(sparkline({1, 9, 1, 1}, 2), "█▂");
  EXPECT_EQ(sparkline({}, 80), "");
  EXPECT_EQ(sparkline({0}, 80), "▁");
}

}  // namespace
}  // namespace titan::chart
