#include "core/checkpoint/index_check.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 20U;

Index sample() {
  Index index;
  index.files = {{"a", 400, kBlock, {std::string(32, '0')}}, {"b", kBlock, kBlock, {std::string(32, '1')}}};
  index.tensors["w"] = {DType::f32, {4, 2}, {{{{2, 0}, {2, 2}}, 1, 0}, {{{0, 0}, {2, 2}}, 0, 0}}};
  index.tensors["x"] = {DType::f64, {48}, {{{{0}, {48}}, 0, 16}}};
  return index;
}

std::string refusal(const std::function<void(Index&)>& change) {
  Index index = sample();
  change(index);
  const std::string text = testing::error_text<DataError>([&] { check_index(index, "step-3/index.json"); });
  EXPECT_TRUE(text.starts_with("[checkpoint] step-3/index.json: ")) << text;
  return text;
}

void expect_refused(const std::function<void(Index&)>& change, const std::string& why) {
  const std::string text = refusal(change);
  EXPECT_NE(text.find(why), std::string::npos) << text;
}

TEST(IndexCheckTest, SortsThePartsOfAGoodIndex) {
  Index index = sample();
  check_index(index, "i");
  EXPECT_EQ(index.tensors["w"].parts[0].box.offset, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(index.tensors["w"].parts[1].file, 1U);
}

TEST(IndexCheckTest, PartsTileTheirTensor) {
  expect_refused([](Index& index) { index.tensors["w"].parts.pop_back(); }, "w: its parts leave a gap: 4 of 8");
  expect_refused([](Index& index) { index.tensors["w"].parts[0].box.offset[0] = 1; }, "w: its parts overlap");
  expect_refused([](Index& index) { index.tensors["w"].shape = {4}; }, "w: a part has no elements, or does not lie");
}

TEST(IndexCheckTest, BytesLieInTheirFile) {
  expect_refused([](Index& index) { index.tensors["x"].parts[0].begin = 17; }, "x: a part does not lie in its file: a");
  expect_refused([](Index& index) { index.tensors["x"].parts[0].begin = UINT64_MAX; }, "x: a part does not lie");
  expect_refused([](Index& index) { index.tensors["x"].parts[0].file = 2; },
                 "x: a part is in a file that is not listed");
  // 2^61 elements of 8 bytes: their number of bytes does not fit into 64 bits.
  expect_refused(
      [](Index& index) {
        index.tensors["x"] = {DType::f64, {std::int64_t{1} << 61U}, {{{{0}, {std::int64_t{1} << 61U}}, 0, 16}}};
      },
      "x: a part does not lie in its file");
}

TEST(IndexCheckTest, BytesBelongToOnePart) {
  expect_refused([](Index& index) { index.tensors["x"].parts[0].begin = 15; }, "x: shares bytes with w: a, at 15");
  expect_refused([](Index& index) { index.tensors["w"].parts[0] = {{{2, 0}, {2, 2}}, 0, 0}; }, "shares bytes with w");
}

TEST(IndexCheckTest, FilesHaveOneHashForEachBlock) {
  expect_refused([](Index& index) { index.files[1].path = "a"; }, "a: a file is there twice");
  expect_refused([](Index& index) { index.files[1].size += 1; }, "b: not one hash for each block: 1 hashes, 2 blocks");
  expect_refused([](Index& index) { index.files[1].block_hashes.clear(); }, "b: not one hash for each block");
  expect_refused([](Index& index) { index.files[0].block_size = 0; }, "a: block size is no power of two");
  expect_refused([](Index& index) { index.files[0].block_size = kBlock / 2; }, "a: block size is no power of two");
  expect_refused([](Index& index) { index.files[0].block_size = kBlock + 1; }, "a: block size is no power of two");
  expect_refused([](Index& index) { index.files[0].block_size = kBlock * 2; },
                 "a: block size is larger than a file of 400 bytes needs: 2097152");
  expect_refused([](Index& index) { index.files[0].block_size = std::uint64_t{1} << 62U; },
                 "a: block size is larger than a file of 400 bytes needs");
}

}  // namespace
}  // namespace titan::checkpoint
