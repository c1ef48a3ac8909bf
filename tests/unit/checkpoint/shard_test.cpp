#include "core/checkpoint/shard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/shard_bytes.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

using testing::MadeTensor;

std::vector<MadeTensor> tensors(std::int64_t rows) {
  std::mt19937_64 random(1);
  std::vector<MadeTensor> made;
  made.push_back(testing::random_tensor("w", DType::f32, {rows, 1024}, random));
  made.push_back(testing::random_tensor("b", DType::bf16, {rows, 3}, random));
  made.push_back(testing::random_tensor("flags", DType::boolean, {11}, random));
  return made;
}

class BentWrites final : public SystemCalls {
 public:
  std::function<ssize_t(std::size_t size)> limit;  // bytes to write, or minus an errno
  int num_syncs = 0, sync_error = 0;

  ssize_t write(int descriptor, const void* bytes, std::size_t size) override {
    const ssize_t allowed = limit ? limit(size) : static_cast<ssize_t>(size);
    if (allowed >= 0) return SystemCalls::write(descriptor, bytes, static_cast<std::size_t>(allowed));
    errno = static_cast<int>(-allowed);
    return -1;
  }
  int fsync(int descriptor) override {
    ++num_syncs;
    if (sync_error == 0) return SystemCalls::fsync(descriptor);
    errno = sync_error;
    return -1;
  }
};

/// Both forms: straight from the tensors, and from staging memory.
class ShardTest : public ::testing::TestWithParam<bool> {
 protected:
  ShardReport write(const ShardLayout& layout, ByteCount* written = nullptr) {
    if (!GetParam()) return write_shard(calls_, path_, layout, written);
    Staging staging(layout.size);
    staging.fill(layout);
    return write_shard(calls_, path_, staging, written);
  }
  /// Compares the file with the layout, and the report with the file.
  void expect_file(const ShardLayout& layout, const ShardReport& report) const {
    std::vector<std::byte> expected(layout.size);
    copy_shard_bytes(layout, 0, expected);
    const std::string content = read_file(path_, 1U << 28U);
    EXPECT_TRUE(testing::same_bytes(std::as_bytes(std::span(content)), expected));
    EXPECT_EQ(report.name, path_.filename().string());
    EXPECT_EQ(report.size, layout.size);
    EXPECT_EQ(report.hash, hash128(content));
    EXPECT_EQ(report.block_size, block_size_for(layout.size));
    std::vector<std::string> blocks;
    for (std::size_t at = 0; at < content.size(); at += report.block_size) {
      blocks.push_back(hash128(std::string_view(content).substr(at, report.block_size)));
    }
    EXPECT_EQ(report.block_hashes, blocks);
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "shard-00000-of-00001.safetensors";
  BentWrites calls_;
};

TEST_P(ShardTest, IsWrittenAndHashed) {
  // From one page to several pieces, the last of which ends anywhere.
  for (const std::int64_t rows : {0, 1, 700, 5000}) {
    std::filesystem::remove(path_);
    const std::vector<MadeTensor> made = tensors(rows);
    const ShardLayout layout = lay_out_shard(testing::held(made), "id");
    ByteCount written = 0;
    expect_file(layout, write(layout, &written));
    EXPECT_EQ(written, layout.size);
  }
}

TEST_P(ShardTest, IsConvertedOnTheWay) {
  const std::vector<MadeTensor> made = tensors(5000);
  const ShardLayout layout = lay_out_shard(testing::held(made), "id", DType::bf16);
  expect_file(layout, write(layout));
}

TEST_P(ShardTest, SurvivesShortWritesAndSignals) {
  int count = 0;
  calls_.limit = [&](std::size_t size) -> ssize_t {
    if (++count % 5 == 0) return -EINTR;
    return static_cast<ssize_t>(std::min<std::size_t>(size, count % 2 == 0 ? 77'777 : 1U << 19U));
  };
  const std::vector<MadeTensor> made = tensors(2500);
  const ShardLayout layout = lay_out_shard(testing::held(made), "id");
  expect_file(layout, write(layout));
}

TEST_P(ShardTest, FailsWhenTheDiskIsFull) {
  std::size_t left = 3U << 20U;
  calls_.limit = [&](std::size_t size) -> ssize_t {
    if (left == 0) return -ENOSPC;
    const std::size_t some = std::min(size, left);
    left -= some;
    return static_cast<ssize_t>(some);
  };
  const std::vector<MadeTensor> made = tensors(5000);
  const ShardLayout layout = lay_out_shard(testing::held(made), "id");
  EXPECT_THAT(titan::testing::error_text<IoError>([&] { write(layout); }),
              ::testing::AllOf(::testing::HasSubstr(path_.string()),
                               ::testing::HasSubstr(concat("need ", layout.size, " bytes, have "))));
  EXPECT_EQ(calls_.num_syncs, 0);
}

TEST_P(ShardTest, FailsWhenItCannotBeSynced) {
  calls_.sync_error = EIO;
  const std::vector<MadeTensor> made = tensors(10);
  const ShardLayout layout = lay_out_shard(testing::held(made), "id");
  EXPECT_THAT(titan::testing::error_text<IoError>([&] { write(layout); }), ::testing::HasSubstr(path_.string()));
  EXPECT_EQ(calls_.num_syncs, 1);
}

INSTANTIATE_TEST_SUITE_P(Forms, ShardTest, ::testing::Bool(),
                         [](const auto& form) { return form.param ? "FromStaging" : "FromTensors"; });

}  // namespace
}  // namespace titan::checkpoint
