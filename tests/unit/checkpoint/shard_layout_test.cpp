#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/safetensors.hpp"
#include "core/checkpoint/shard.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

using testing::blank;
using testing::MadeTensor;
using testing::whole;

SafetensorsHeader header_of(const ShardLayout& layout) {
  return read_safetensors_header(std::string_view(layout.header).substr(kSafetensorsPrefix), layout.header.size(),
                                 layout.size, "shard");
}

class ShardLayoutTest : public ::testing::Test {
 protected:
  std::vector<MadeTensor> tensors_ = {
      blank({"b", DType::bf16, {3, 5}}, whole({3, 5})),
      blank({"w", DType::f32, {8, 4}}, {{2, 0}, {3, 4}}),
      blank({"a", DType::i64, {}}, {{}, {}}),
      blank({"flags", DType::boolean, {7}}, whole({7})),
      blank({"none", DType::f32, {8, 4}}, {{8, 0}, {0, 4}}),
      blank({"c", DType::bf16, {1}}, whole({1})),
  };
  std::vector<HeldPart> parts_ = testing::held(tensors_);
};

TEST_F(ShardLayoutTest, PutsLargeElementsFirstAndLeavesEmptyPartsOut) {
  const ShardLayout layout = lay_out_shard(parts_, "id");
  std::vector<std::string> names;
  std::uint64_t at = layout.header.size();
  for (const ShardLayout::Item& item : layout.items) {
    names.push_back(item.part.tensor.name);
    EXPECT_EQ(item.begin, at);
    at += static_cast<std::uint64_t>(num_elements(item.part.box.size)) * element_size(item.dtype);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("a", "w", "b", "c", "flags"));
  EXPECT_EQ(layout.size, at);
  EXPECT_EQ(layout.header.size() % kDirectAlignment, 0U);
}

TEST_F(ShardLayoutTest, IsASafetensorsFileThatSaysWhereItsPartsBelong) {
  const SafetensorsHeader header = header_of(lay_out_shard(parts_, "0123"));
  EXPECT_EQ(header.metadata.at("format"), "titan");
  EXPECT_EQ(header.metadata.at("save_id"), "0123");
  EXPECT_EQ(nlohmann::json::parse(header.metadata.at("parts")), nlohmann::json::parse(R"({
    "a": {"shape": [], "offset": []},
    "b": {"shape": [3, 5], "offset": [0, 0]},
    "c": {"shape": [1], "offset": [0]},
    "flags": {"shape": [7], "offset": [0]},
    "w": {"shape": [8, 4], "offset": [2, 0]}})"));
  ASSERT_EQ(header.entries.size(), 5U);
  EXPECT_EQ(header.entries[1].tensor, (TensorInfo{"w", DType::f32, {3, 4}}));
}

TEST_F(ShardLayoutTest, NamesATensorWithoutElementsInTheHeaderAlone) {
  tensors_.push_back(blank({"empty", DType::f64, {0, 3}}, whole({0, 3})));
  const ShardLayout layout = lay_out_shard(testing::held(tensors_), "id", DType::bf16);
  EXPECT_EQ(layout.items.size(), 5U);
  const SafetensorsHeader header = header_of(layout);
  ASSERT_EQ(header.entries.size(), 6U);
  const auto empty = std::find_if(header.entries.begin(), header.entries.end(),
                                  [](const SafetensorsEntry& entry) { return entry.tensor.name == "empty"; });
  ASSERT_NE(empty, header.entries.end());
  EXPECT_EQ(empty->tensor, (TensorInfo{"empty", DType::bf16, {0, 3}}));
  EXPECT_EQ(empty->begin, empty->end);
}

TEST_F(ShardLayoutTest, ExportsFloatingTypesAlone) {
  const ShardLayout layout = lay_out_shard(parts_, "id", DType::f16);
  for (const SafetensorsEntry& entry : header_of(layout).entries) {
    const std::string& name = entry.tensor.name;
    const DType expected = name == "a" ? DType::i64 : name == "flags" ? DType::boolean : DType::f16;
    EXPECT_EQ(entry.tensor.dtype, expected) << name;
  }
}

TEST_F(ShardLayoutTest, NoPartsMakeAHeader) {
  const ShardLayout layout = lay_out_shard({}, "id");
  EXPECT_EQ(layout.size, layout.header.size());
  EXPECT_TRUE(header_of(layout).entries.empty());
}

TEST_F(ShardLayoutTest, TwoPartsOfOneTensorAreAMistake) {
  parts_.push_back(parts_.front());
  EXPECT_THROW(lay_out_shard(parts_, "id"), InternalError);
}

TEST(ShardNameTest, HoldsRankAndWorld) {
  EXPECT_EQ(shard_name(0, 4), "shard-00000-of-00004.safetensors");
  EXPECT_EQ(shard_name(123456, 200000), "shard-123456-of-200000.safetensors");
}

TEST(BlockSizeTest, IsTheSmallestThatNeedsAThousandBlocksAtMost) {
  constexpr std::uint64_t kMiB = 1U << 20U;
  EXPECT_EQ(block_size_for(0), kMiB);
  EXPECT_EQ(block_size_for(1024 * kMiB), kMiB);
  EXPECT_EQ(block_size_for(1024 * kMiB + 1), 2 * kMiB);
  EXPECT_EQ(block_size_for(std::uint64_t{1} << 62U), std::uint64_t{1} << 52U);
}

}  // namespace
}  // namespace titan::checkpoint
