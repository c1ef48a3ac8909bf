#include "core/chart/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::chart {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SvgTest, TextsCannotBecomeMarkup) {
  EXPECT_EQ(escaped("<a href=\"x\">&'</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escaped(std::string_view("a\0b\x1b\n", 5)), "a\\x00b\\x1b\\n");
  EXPECT_EQ(escaped("\xff"), "\\xff");
  EXPECT_THAT(box(0, 0, 1, 1, "red", "<script>"), HasSubstr("<title>&lt;script&gt;</title>"));
  EXPECT_THAT(text_at(0, 0, "start", "<b>"), HasSubstr(">&lt;b&gt;</text>"));
}

TEST(SvgTest, CoordinatesAreShort) {
  EXPECT_EQ(coordinate(1.0 / 3), "0.3");
  EXPECT_EQ(coordinate(100), "100");
}

TEST(SvgTest, AFileHasItsOwnColors) {
  const std::string file = picture_file(picture(10, 20, box(1, 2, 3, 4, color(0))));
  EXPECT_THAT(file, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(file, HasSubstr("<style>"));
  EXPECT_EQ(color(3), color(13));
}

}  // namespace
}  // namespace titan::chart
