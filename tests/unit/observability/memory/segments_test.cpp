#include "plugins/observability/memory/segments.hpp"

#include <gtest/gtest.h>

namespace titan::observability {
namespace {

TEST(SegmentsTest, JoinsWhatTouchesOverlapsOrIsNear) {
  Segments segments(10);
  segments.add({1000, 1100});
  segments.add({100, 200});
  segments.add({150, 160});
  segments.add({200, 300});
  segments.add({310, 320});
  segments.add({331, 340});
  const std::vector<Segment> joined = segments.take();
  ASSERT_EQ(joined.size(), 3U);
  EXPECT_EQ(joined[0].begin, 100U);
  EXPECT_EQ(joined[0].end, 320U);
  EXPECT_EQ(joined[1].begin, 331U);
  EXPECT_EQ(joined[2].end, 1100U);
  EXPECT_TRUE(segments.take().empty());
}

TEST(SegmentsTest, ManyStretchesGiveTheSameAsFew) {
  Segments segments(0);
  constexpr std::uint64_t kCount = 200'000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const std::uint64_t begin = i * 7919 % kCount * 16;
    segments.add({begin, begin + 16});
  }
  const std::vector<Segment> joined = segments.take();
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].end, kCount * 16);
}

}  // namespace
}  // namespace titan::observability
