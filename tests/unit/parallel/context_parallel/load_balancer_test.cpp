#include "plugins/parallel/context_parallel/load_balancer.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

using ::testing::HasSubstr;

TEST(LoadBalancer, IsReadFromItsName) {
  EXPECT_EQ(load_balancer("headtail"), LoadBalancer::headtail);
  EXPECT_EQ(load_balancer("none"), LoadBalancer::none);
  EXPECT_THROW(load_balancer("ptrr"), sdk::ConfigError);
  EXPECT_THROW(load_balancer(""), sdk::ConfigError);
}

TEST(LoadBalancer, HeadtailGivesAChunkFromTheFrontAndItsMirrorImage) {
  const at::Tensor rows = at::arange(16, at::kLong).view({2, 8});
  EXPECT_TRUE(columns_of_rank(rows, LoadBalancer::headtail, 0, 2)
                  .equal(at::tensor({0, 1, 6, 7, 8, 9, 14, 15}, at::kLong).view({2, 4})));
  EXPECT_TRUE(columns_of_rank(rows, LoadBalancer::headtail, 1, 2)
                  .equal(at::tensor({2, 3, 4, 5, 10, 11, 12, 13}, at::kLong).view({2, 4})));
}

TEST(LoadBalancer, NoneGivesOnePiece) {
  const at::Tensor rows = at::arange(12, at::kLong).view({2, 6});
  const at::Tensor mine = columns_of_rank(rows, LoadBalancer::none, 1, 3);
  EXPECT_TRUE(mine.equal(at::tensor({2, 3, 8, 9}, at::kLong).view({2, 2})));
  EXPECT_TRUE(mine.is_contiguous());
}

TEST(LoadBalancer, EveryColumnIsWithOneRank) {
  for (const LoadBalancer balancer : {LoadBalancer::headtail, LoadBalancer::none}) {
    for (const std::int64_t ranks : {2, 3, 4}) {
      const std::int64_t length = 2 * num_chunks(balancer, ranks);
      const at::Tensor rows = at::arange(length, at::kLong).view({1, length});
      std::vector<at::Tensor> parts;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        parts.push_back(columns_of_rank(rows, balancer, rank, ranks));
        EXPECT_EQ(parts.back().size(1), length / ranks);
      }
      EXPECT_TRUE(std::get<0>(at::cat(parts, 1).sort()).equal(rows));
    }
  }
}

TEST(LoadBalancer, RefusesRowsThatTheChunksDoNotDivide) {
  const at::Tensor rows = at::arange(6, at::kLong).view({1, 6});
  EXPECT_NO_THROW(columns_of_rank(rows, LoadBalancer::none, 0, 2));
  try {
    columns_of_rank(rows, LoadBalancer::headtail, 0, 2);
    FAIL() << "6 tokens in 4 equal chunks";
  } catch (const sdk::ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("6 tokens, 4 chunks"));
  }
}

}  // namespace
}  // namespace titan::parallel
