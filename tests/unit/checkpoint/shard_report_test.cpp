#include "core/checkpoint/shard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

TEST(ShardReportTest, ReadsWhatItWrote) {
  const ShardReport report{"shard-00000-of-00002.safetensors", 4097, "00ff", 1U << 20U, {"01", "02"}};
  const ShardReport read = read_shard_report(write_shard_report(report));
  EXPECT_EQ(read.name, report.name);
  EXPECT_EQ(read.size, report.size);
  EXPECT_EQ(read.hash, report.hash);
  EXPECT_EQ(read.block_size, report.block_size);
  EXPECT_EQ(read.block_hashes, report.block_hashes);
}

TEST(ShardReportTest, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(titan::testing::error_text<DataError>([] { read_shard_report(R"({"name": "a", "size": -1})"); }),
              ::testing::HasSubstr("size"));
  EXPECT_THROW(read_shard_report("not JSON"), DataError);
}

}  // namespace
}  // namespace titan::checkpoint
