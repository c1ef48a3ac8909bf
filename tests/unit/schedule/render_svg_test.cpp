#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/schedule/render.hpp"
#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(RenderSvg, HasABoxForEachComputation) {
  const Table table = two_ranks();
  const std::string svg = render_svg(table, simulate_time(table));
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(count(svg, "<rect"), 8);
  EXPECT_THAT(svg, HasSubstr(">1B1</text>"));
  EXPECT_THAT(svg, HasSubstr("1F1B: bubble share 33.3 %"));
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 556 "));  // as wide as its title, where the boxes are few
}

TEST(RenderSvg, TextsCannotBecomeMarkup) {
  Table table = two_ranks();
  table.name = "<script>&";
  EXPECT_THAT(render_svg(table, simulate_time(table)), HasSubstr("&lt;script&gt;&amp;: bubble"));
}

}  // namespace
}  // namespace titan::schedule
