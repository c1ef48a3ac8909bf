#include "core/app/checkpoint/tensor_facts.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace titan::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::int64_t elements_of(const std::vector<Box>& boxes) {
  return std::accumulate(boxes.begin(), boxes.end(), std::int64_t{0},
                         [](std::int64_t sum, const Box& box) { return sum + checkpoint::num_elements(box.size); });
}

TEST(Cut, WhatFitsIsOnePiece) {
  EXPECT_THAT(cut({2, 3}, 4, 24), ElementsAre(Box{{0, 0}, {2, 3}}));
  EXPECT_THAT(cut({}, 8, 1), ElementsAre(Box{{}, {}})) << "a scalar";
}

TEST(Cut, NoElementsAreNoPiece) {
  EXPECT_THAT(cut({0, 3}, 4, 100), IsEmpty());
  EXPECT_THAT(cut({3, 0}, 4, 1), IsEmpty());
}

TEST(Cut, RowsGoTogetherAsFarAsTheyFit) {
  EXPECT_THAT(cut({5, 3}, 4, 30), ElementsAre(Box{{0, 0}, {2, 3}}, Box{{2, 0}, {2, 3}}, Box{{4, 0}, {1, 3}}));
}

TEST(Cut, RowsThatAreTooLargeAreCutThemselves) {
  EXPECT_THAT(cut({2, 3, 4}, 1, 8), ElementsAre(Box{{0, 0, 0}, {1, 2, 4}}, Box{{0, 2, 0}, {1, 1, 4}},
                                                Box{{1, 0, 0}, {1, 2, 4}}, Box{{1, 2, 0}, {1, 1, 4}}));
}

TEST(Cut, PiecesAreNeverSmallerThanAnElement) {
  EXPECT_THAT(cut({2}, 8, 1), ElementsAre(Box{{0}, {1}}, Box{{1}, {1}}));
}

TEST(Cut, PiecesHoldEveryElementOnceAndInOrder) {
  for (std::uint64_t most = 1; most <= 210; ++most) {
    const std::vector<Box> boxes = cut({2, 3, 5, 7}, 1, most);
    EXPECT_EQ(elements_of(boxes), 210) << most;
    std::int64_t next = 0;
    for (const Box& box : boxes) {
      const std::int64_t begin = ((box.offset[0] * 3 + box.offset[1]) * 5 + box.offset[2]) * 7 + box.offset[3];
      EXPECT_EQ(begin, next) << most;
      EXPECT_LE(checkpoint::num_elements(box.size), static_cast<std::int64_t>(most));
      next += checkpoint::num_elements(box.size);
    }
  }
}

TEST(ShapeText, IsAsPythonWritesIt) {
  EXPECT_EQ(shape_text({512, 64}), "[512, 64]");
  EXPECT_EQ(shape_text({}), "[]");
}

}  // namespace
}  // namespace titan::app
