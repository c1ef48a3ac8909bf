#include "core/checkpoint/shard_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

using testing::MadeTensor;

std::vector<MadeTensor> all_dtypes() {
  std::mt19937_64 random(3);
  std::vector<MadeTensor> tensors;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i16,
                            DType::i8, DType::u8, DType::boolean}) {
    tensors.push_back(testing::random_tensor(std::string(torch_name(dtype)), dtype, {7, 13}, random));
  }
  return tensors;
}

TEST(ShardBytesTest, AreHeaderAndItemsWhereverTheyAreCut) {
  const std::vector<MadeTensor> tensors = all_dtypes();
  const ShardLayout layout = lay_out_shard(testing::held(tensors), "id");
  std::vector<std::byte> file(layout.size);
  copy_shard_bytes(layout, 0, file);
  EXPECT_TRUE(
      testing::same_bytes(std::span(file).first(layout.header.size()), std::as_bytes(std::span(layout.header))));
  for (const ShardLayout::Item& item : layout.items) {
    const auto tensor = std::ranges::find(tensors, item.part.tensor.name, [](const auto& t) { return t.info.name; });
    EXPECT_TRUE(testing::same_bytes(std::span(file).subspan(item.begin, tensor->bytes.size()), tensor->bytes));
  }
  std::mt19937_64 random(4);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t begin = random() % layout.size, size = random() % (layout.size - begin + 1);
    std::vector<std::byte> some(size);
    copy_shard_bytes(layout, begin, some);
    EXPECT_TRUE(testing::same_bytes(some, std::span(file).subspan(begin, size)));
  }
}

TEST(ShardBytesTest, ConvertFloatingTypes) {
  const std::vector<MadeTensor> tensors = all_dtypes();
  const ShardLayout layout = lay_out_shard(testing::held(tensors), "id", DType::bf16);
  std::vector<std::byte> file(layout.size), again(layout.size);
  copy_shard_bytes(layout, 0, file);
  for (const ShardLayout::Item& item : layout.items) {
    const auto tensor = std::ranges::find(tensors, item.part.tensor.name, [](const auto& t) { return t.info.name; });
    std::vector<std::byte> expected(7 * 13 * element_size(item.dtype));
    convert(tensor->bytes, tensor->info.dtype, expected, item.dtype);
    EXPECT_TRUE(testing::same_bytes(std::span(file).subspan(item.begin, expected.size()), expected));
  }
  for (std::uint64_t at = 0; at < layout.size; at += 64) {
    copy_shard_bytes(layout, at, std::span(again).subspan(at, std::min<std::uint64_t>(64, layout.size - at)));
  }
  EXPECT_EQ(again, file);
}

TEST(ShardBytesTest, EndWithTheFile) {
  const ShardLayout layout = lay_out_shard({}, "id");
  std::vector<std::byte> out(layout.size + 1);
  EXPECT_THROW(copy_shard_bytes(layout, 0, out), InternalError);
}

}  // namespace
}  // namespace titan::checkpoint
