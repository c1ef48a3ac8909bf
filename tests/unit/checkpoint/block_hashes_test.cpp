#include "core/checkpoint/block_hashes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace titan::checkpoint {
namespace {

TEST(BlockHashesTest, EqualTheHashesOfTheBytes) {
  std::string bytes;
  for (std::size_t i = 0; i < 300'000; ++i) bytes += static_cast<char>(i * 31 % 251);
  for (const std::size_t block : {1000U, 4096U, 200'000U, 300'000U, 400'000U}) {
    for (const std::size_t step : {7'919U, 150'000U, 300'000U}) {
      BlockHashes hashes(block);
      for (std::size_t at = 0; at < bytes.size(); at += step) {
        hashes.update(std::as_bytes(std::span(bytes).subspan(at, std::min(step, bytes.size() - at))));
      }
      EXPECT_EQ(hashes.whole(), hash128(bytes));
      std::vector<std::string> expected;
      for (std::size_t at = 0; at < bytes.size(); at += block) expected.push_back(hash128(bytes.substr(at, block)));
      EXPECT_EQ(hashes.blocks(), expected) << block << " " << step;
    }
  }
}

TEST(BlockHashesTest, NoBytesHaveNoBlocks) {
  EXPECT_TRUE(BlockHashes(1024).blocks().empty());
  EXPECT_EQ(BlockHashes(1024).whole(), hash128(""));
}

TEST(BlockHashesTest, WithoutBlocksThereIsTheWhole) {
  BlockHashes hashes(0);
  hashes.update(std::as_bytes(std::span(std::string_view("abc"))));
  EXPECT_EQ(hashes.whole(), hash128("abc"));
  EXPECT_TRUE(hashes.blocks().empty());
}

}  // namespace
}  // namespace titan::checkpoint
