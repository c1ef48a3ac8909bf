#include "core/tensor/block_cache.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace titan::tensor {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

void* make_block(std::size_t capacity) { return std::malloc(capacity); }

TEST(BlockCache, CapacityRoundsLargeRequestsUpByAnEighthAtMost) {
  EXPECT_EQ(BlockCache::capacity(1), 1U);
  EXPECT_EQ(BlockCache::capacity(BlockCache::kSmallest - 1), BlockCache::kSmallest - 1);
  for (std::size_t bytes = BlockCache::kSmallest; bytes < (std::size_t{1} << 45); bytes += bytes / 7 + 1) {
    const std::size_t capacity = BlockCache::capacity(bytes);
    EXPECT_GE(capacity, bytes);
    EXPECT_LE(capacity, bytes + bytes / 8);
    EXPECT_EQ(BlockCache::capacity(capacity), capacity);
  }
}

TEST(BlockCache, GivesBackABlockOfTheSameCapacityOnly) {
  BlockCache cache;
  const std::size_t capacity = BlockCache::capacity(1 << 20), next = BlockCache::capacity(capacity + 1);
  EXPECT_EQ(cache.take(capacity), nullptr);
  void* block = make_block(capacity);
  cache.put(block, capacity, kNoLimit);
  EXPECT_EQ(cache.bytes(), capacity);
  EXPECT_EQ(cache.take(next), nullptr);
  EXPECT_EQ(cache.take(capacity), block);
  EXPECT_EQ(cache.bytes(), 0U);
  EXPECT_EQ(cache.take(capacity), nullptr);
  std::free(block);
}

TEST(BlockCache, NeighbouringCapacitiesDoNotMix) {
  BlockCache cache;
  std::size_t capacity = BlockCache::kSmallest;
  for (int i = 0; i < 100; ++i, capacity = BlockCache::capacity(capacity + 1)) {
    ASSERT_EQ(cache.take(capacity), nullptr) << capacity;
    cache.put(make_block(BlockCache::kSmallest), capacity, kNoLimit);
  }
}

TEST(BlockCache, SmallBlocksAreNotKept) {
  BlockCache cache;
  cache.put(make_block(64), 64, kNoLimit);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(BlockCache, OverTheLimitTheOldMakeRoom) {
  BlockCache cache;
  const std::size_t small = BlockCache::capacity(1 << 20), large = BlockCache::capacity(3 << 20);
  cache.put(make_block(small), small, kNoLimit);
  cache.put(make_block(small), small, kNoLimit);
  cache.put(make_block(large), large, large + small);
  EXPECT_EQ(cache.bytes(), large);
  cache.put(make_block(large), large, large - 1);
  EXPECT_EQ(cache.bytes(), large) << "a block larger than the limit is freed at once";
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace
}  // namespace titan::tensor
