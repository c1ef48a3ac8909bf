#include "core/checkpoint/pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/checkpoint/parts.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Box whole(const std::vector<std::int64_t>& shape) { return {std::vector<std::int64_t>(shape.size(), 0), shape}; }

TEST(PiecesTest, WhatFitsIsOnePiece) {
  EXPECT_THAT(pieces_of(whole({4, 3}), 12), ElementsAre(whole({4, 3})));
  EXPECT_THAT(pieces_of(whole({}), 1), ElementsAre(Box{})) << "a scalar";
}

TEST(PiecesTest, NoElementsAreNoPiece) {
  EXPECT_THAT(pieces_of(whole({0, 3}), 1), IsEmpty());
  EXPECT_THAT(pieces_of(whole({3, 0}), 100), IsEmpty());
}

TEST(PiecesTest, RowsGoTogetherAsFarAsTheyFit) {
  EXPECT_THAT(pieces_of(whole({5, 3}), 7), ElementsAre(Box{{0, 0}, {2, 3}}, Box{{2, 0}, {2, 3}}, Box{{4, 0}, {1, 3}}));
  EXPECT_THAT(pieces_of({{5, 1}, {4, 3}}, 9), ElementsAre(Box{{5, 1}, {3, 3}}, Box{{8, 1}, {1, 3}}));
}

TEST(PiecesTest, RowsThatAreTooLargeAreCutThemselves) {
  EXPECT_THAT(pieces_of(whole({1, 2, 5}), 3), ElementsAre(Box{{0, 0, 0}, {1, 1, 3}}, Box{{0, 0, 3}, {1, 1, 2}},
                                                          Box{{0, 1, 0}, {1, 1, 3}}, Box{{0, 1, 3}, {1, 1, 2}}));
}

TEST(PiecesTest, AreNeverSmallerThanAnElement) {
  EXPECT_THAT(pieces_of(whole({2}), 0), ElementsAre(Box{{0}, {1}}, Box{{1}, {1}}));
}

TEST(PiecesTest, HoldEveryElementOnceAndInOrder) {
  for (std::uint64_t most = 1; most <= 210; ++most) {
    std::int64_t next = 0;
    for (const Box& box : pieces_of(whole({2, 3, 5, 7}), most)) {
      EXPECT_EQ(((box.offset[0] * 3 + box.offset[1]) * 5 + box.offset[2]) * 7 + box.offset[3], next) << most;
      EXPECT_LE(num_elements(box.size), static_cast<std::int64_t>(most));
      next += num_elements(box.size);
    }
    EXPECT_EQ(next, 210) << most;
  }
}

std::vector<std::vector<std::uint64_t>> batches(const std::vector<std::uint64_t>& sizes, std::uint64_t most) {
  std::vector<std::vector<std::uint64_t>> out;
  in_batches(
      sizes, most, [](std::uint64_t size) { return size; },
      [&](std::span<const std::uint64_t> batch, std::uint64_t bytes) {
        out.emplace_back(batch.begin(), batch.end());
        std::uint64_t sum = 0;
        for (const std::uint64_t size : batch) sum += size;
        EXPECT_EQ(bytes, sum);
      });
  return out;
}

TEST(PiecesTest, BatchesAreAsFullAsTheyCanBe) {
  EXPECT_THAT(batches({3, 3, 4, 1, 9, 1}, 10), ElementsAre(ElementsAre(3, 3, 4), ElementsAre(1, 9), ElementsAre(1)));
  EXPECT_THAT(batches({}, 10), IsEmpty());
}

TEST(PiecesTest, AnItemThatIsTooLargeGoesAlone) {
  EXPECT_THAT(batches({1, 20, 0, 2}, 10), ElementsAre(ElementsAre(1), ElementsAre(20), ElementsAre(0, 2)));
}

}  // namespace
}  // namespace titan::checkpoint
