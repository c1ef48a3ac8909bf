#include "core/checkpoint/piece_ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace titan::checkpoint {
namespace {

TEST(PieceRingTest, HandsOverEveryPieceInOrder) {
  std::uint64_t made = 0;
  PieceRing ring(3, 100, [&](Piece& piece) {
    piece.begin = made;
    piece.size = 1;
    piece.memory[0] = static_cast<std::byte>(made);
    return made++ < 200;
  });
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Piece* const piece = ring.next();
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(piece->begin, i);
    EXPECT_EQ(piece->memory[0], static_cast<std::byte>(i));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece->memory.data()) % kDirectAlignment, 0U);
    EXPECT_GE(piece->memory.size(), 100U);
  }
  EXPECT_EQ(ring.next(), nullptr);
  EXPECT_EQ(ring.next(), nullptr);
}

TEST(PieceRingTest, ThrowsWhatFillingThrewAfterThePiecesBefore) {
  int made = 0;
  PieceRing ring(2, 10, [&](Piece&) -> bool {
    if (made++ == 3) throw std::runtime_error("the fourth");
    return true;
  });
  for (int i = 0; i < 3; ++i) EXPECT_NE(ring.next(), nullptr);
  EXPECT_THROW(ring.next(), std::runtime_error);
}

TEST(PieceRingTest, FillsNoMoreThanThereIsMemoryFor) {
  std::atomic<int> made = 0;
  PieceRing ring(2, 10, [&](Piece&) { return ++made < 100; });
  EXPECT_NE(ring.next(), nullptr);
  EXPECT_LE(made, 2);
  EXPECT_NE(ring.next(), nullptr);
  EXPECT_LE(made, 3);
}

TEST(PieceRingTest, EndsWithPiecesLeft) {
  std::atomic<int> made = 0;
  {
    PieceRing ring(2, 10, [&](Piece&) { return ++made > 0; });
  }
  EXPECT_LE(made, 2);
}

}  // namespace
}  // namespace titan::checkpoint
