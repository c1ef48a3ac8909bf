#include "plugins/parallel/context_parallel/block.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace titan::parallel {
namespace {

/// The columns of a row that a rank has, in its order, by hand.
std::vector<std::int64_t> columns(LoadBalancer balancer, std::int64_t length, std::int64_t rank, std::int64_t ranks) {
  std::vector<std::int64_t> found;
  const std::int64_t chunk = balancer == LoadBalancer::headtail ? length / 2 : length;
  for (std::int64_t i = 0; i < chunk; ++i) found.push_back(rank * chunk + i);
  if (balancer == LoadBalancer::none) return found;
  for (std::int64_t i = 0; i < chunk; ++i) found.push_back((2 * ranks - 1 - rank) * chunk + i);
  return found;
}

bool sees(const Block& block, std::int64_t length, std::int64_t query, std::int64_t key) {
  const std::int64_t in_block = query - (length - block.num_queries);
  return in_block >= 0 && key < block.num_keys && (!block.is_causal || key <= in_block);
}

TEST(Block, LetsEachQuerySeeTheKeysUpToItsOwnColumn) {
  constexpr std::int64_t kLength = 4;
  for (const LoadBalancer balancer : {LoadBalancer::headtail, LoadBalancer::none}) {
    for (const std::int64_t ranks : {2, 3, 4}) {
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        for (std::int64_t source = 0; source < ranks; ++source) {
          const Block block = block_of(true, balancer, kLength, rank, source);
          const auto queries = columns(balancer, kLength, rank, ranks),
                     keys = columns(balancer, kLength, source, ranks);
          for (std::size_t q = 0; q < queries.size(); ++q) {
            for (std::size_t k = 0; k < keys.size(); ++k) {
              EXPECT_EQ(sees(block, kLength, static_cast<std::int64_t>(q), static_cast<std::int64_t>(k)),
                        keys[k] <= queries[q])
                  << "rank " << rank << ", source " << source << ", query " << q << ", key " << k;
            }
          }
        }
      }
    }
  }
}

TEST(Block, IsWholeWithoutAMask) {
  for (const LoadBalancer balancer : {LoadBalancer::headtail, LoadBalancer::none}) {
    for (std::int64_t source = 0; source < 3; ++source) {
      const Block block = block_of(false, balancer, 5, 1, source);
      EXPECT_EQ(block.num_queries, 5);
      EXPECT_EQ(block.num_keys, 5);
      EXPECT_FALSE(block.is_causal);
    }
  }
}

/// Pairs of a query and a key that a rank's blocks hold, those inside its own chunks aside.
std::int64_t pairs(LoadBalancer balancer, std::int64_t rank, std::int64_t ranks) {
  std::int64_t sum = 0;
  for (std::int64_t source = 0; source < ranks; ++source) {
    const Block block = block_of(true, balancer, 8, rank, source);
    if (source != rank) sum += block.num_queries * block.num_keys;
  }
  return sum;
}

TEST(Block, GivesAllRanksTheSameWorkUnderHeadtail) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(pairs(LoadBalancer::headtail, rank, ranks), (ranks - 1) * 8 * 8 / 2);
      EXPECT_EQ(pairs(LoadBalancer::none, rank, ranks), rank * 8 * 8) << "later ranks have more to do";
    }
  }
}

}  // namespace
}  // namespace titan::parallel
