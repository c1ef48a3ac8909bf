#include "core/checkpoint/dcp/export_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/checkpoint/parts.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

Box whole(const std::vector<std::int64_t>& shape) { return {std::vector<std::int64_t>(shape.size(), 0), shape}; }

TEST(ExportPlanTest, ChunksAreTheSourcesParts) {
  Source source;
  source.files.resize(3);
  source.tensors["w"] = {DType::f32, {4, 3}, {{{{0, 0}, {2, 3}}, 2, 500}, {{{2, 0}, {2, 3}}, 1, 0}}};
  source.tensors["v"] = {DType::f32, {3}, {{{{0}, {3}}, 2, 100}}};
  const ExportPlan plan(source);
  ASSERT_EQ(plan.files.size(), 3U);  // the first has what is no tensor
  EXPECT_TRUE(plan.files[0].empty());
  const DcpTensor& matrix = plan.metadata.tensors.at("w");
  ASSERT_EQ(matrix.chunks.size(), 2U);
  EXPECT_EQ(matrix.chunks[0].box, (Box{{0, 0}, {2, 3}}));
  // In the order of the source's file: v, then w.
  const DcpItem& vector = plan.metadata.tensors.at("v").chunks[0].item;
  EXPECT_EQ(vector.file, matrix.chunks[0].item.file);
  EXPECT_EQ(vector.offset, 0U);
  EXPECT_EQ(matrix.chunks[0].item.offset, vector.length);
  EXPECT_EQ(plan.sizes[vector.file], vector.length + matrix.chunks[0].item.length);
  EXPECT_EQ(plan.num_bytes, 60U);
}

TEST(ExportPlanTest, WritesNoMoreDimsThanAreRead) {
  Source source;
  source.files.resize(1);
  source.tensors["w"] = {
      DType::f32, std::vector<std::int64_t>(16, 1), {{whole(std::vector<std::int64_t>(16, 1)), 0, 0}}};
  EXPECT_NO_THROW(ExportPlan{source});
  source.tensors["w"] = {
      DType::f32, std::vector<std::int64_t>(17, 1), {{whole(std::vector<std::int64_t>(17, 1)), 0, 0}}};
  EXPECT_THAT(titan::testing::error_text<DataError>([&] { ExportPlan{source}; }),
              ::testing::HasSubstr("too many dims for a DCP checkpoint: w: 17, limit 16"));
}

TEST(ExportPlanTest, ATensorInManyPartsIsOneChunk) {
  Source source;
  source.files.resize(1);
  StoredTensor& rows = source.tensors["rows"] = {DType::f32, {1000, 3}, {}};
  for (std::int64_t i = 0; i < 1000; ++i) rows.parts.push_back({{{i, 0}, {1, 3}}, 0, 0});
  const ExportPlan plan(source);
  ASSERT_EQ(plan.metadata.tensors.at("rows").chunks.size(), 1U);
  EXPECT_EQ(plan.metadata.tensors.at("rows").chunks[0].box, whole({1000, 3}));
}

TEST(ExportPlanTest, ChunksThatAreTooLargeForAnArchiveAreCut) {
  Source source;
  source.files.resize(1);
  const std::vector<std::int64_t> shape = {1000, std::int64_t{1} << 20U};
  source.tensors["w"] = {DType::f32, shape, {{whole(shape), 0, 0}}};
  const ExportPlan plan(source);
  std::int64_t elements = 0;
  for (const DcpChunk& chunk : plan.metadata.tensors.at("w").chunks) {
    EXPECT_LT(chunk.item.length, std::uint64_t{1} << 32U);
    elements += num_elements(chunk.box.size);
  }
  EXPECT_EQ(elements, num_elements(shape));
}

}  // namespace
}  // namespace titan::checkpoint
