#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/checkpoint/shard.hpp"
#include "core/checkpoint/shard_bytes.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

TEST(StagingTest, HoldsTheFileAndIsUsedAgain) {
  std::mt19937_64 random(1);
  Staging staging(100'000);
  EXPECT_EQ(staging.capacity(), 100'000U);
  EXPECT_TRUE(staging.bytes().empty());
  for (const std::int64_t rows : {100, 3}) {
    const auto tensor = testing::random_tensor("w", DType::f32, {rows, 50}, random);
    const HeldPart part = tensor.held();
    const ShardLayout layout = lay_out_shard({&part, 1}, "id");
    staging.fill(layout);
    std::vector<std::byte> expected(layout.size);
    copy_shard_bytes(layout, 0, expected);
    EXPECT_TRUE(testing::same_bytes(staging.bytes(), expected));
  }
}

TEST(StagingTest, RefusesALargerShard) {
  Staging staging(4096);
  const auto tensor = testing::blank({"w", DType::f32, {50}}, testing::whole({50}));
  const HeldPart part = tensor.held();
  EXPECT_THAT(titan::testing::error_text<ResourceError>([&] {
                staging.fill(lay_out_shard({&part, 1}, "id"));
              }),
              ::testing::HasSubstr("larger than the memory"));
  EXPECT_TRUE(staging.bytes().empty());
}

TEST(StagingTest, SaysThatThereIsNoMemory) { EXPECT_THROW(Staging(std::uint64_t{1} << 60U), ResourceError); }

}  // namespace
}  // namespace titan::checkpoint
