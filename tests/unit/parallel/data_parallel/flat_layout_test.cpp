#include "plugins/parallel/data_parallel/flat_layout.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace titan::parallel {
namespace {

TEST(Chunk, CutsAsTorchDoes) {
  const auto counts = [](std::int64_t rows, std::int64_t ranks) {
    std::vector<std::int64_t> found;
    for (std::int64_t rank = 0; rank < ranks; ++rank) found.push_back(chunk(rows, ranks, rank).count);
    return found;
  };
  EXPECT_EQ(counts(8, 4), (std::vector<std::int64_t>{2, 2, 2, 2}));
  EXPECT_EQ(counts(7, 3), (std::vector<std::int64_t>{3, 3, 1}));
  EXPECT_EQ(counts(5, 4), (std::vector<std::int64_t>{2, 2, 1, 0}));
  EXPECT_EQ(counts(1, 3), (std::vector<std::int64_t>{1, 0, 0}));
  EXPECT_EQ(counts(0, 2), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(chunk(5, 4, 3).first, 5) << "an empty chunk lies at the end";
}

TEST(FlatLayout, PartsOfAllRanksMakeTheWhole) {
  constexpr std::int64_t kRanks = 3;
  const std::vector<Shape> shapes{{7, 2}, {1}, {4, 3, 2}};
  std::vector<at::Tensor> wholes, shards;
  for (const Shape& shape : shapes) {
    wholes.push_back(at::arange(1, at::zeros(shape).numel() + 1, at::kFloat).view(shape));
  }
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    const FlatLayout layout(shapes, kRanks, rank);
    shards.push_back(at::zeros({layout.shard_size()}));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const auto& entry = layout.entries()[i];
      layout.part(shards.back(), entry).copy_(wholes[i].narrow(0, entry.mine.first, entry.mine.count));
    }
  }
  const FlatLayout layout(shapes, kRanks, 0);
  const at::Tensor gathered = at::cat(shards);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& entry = layout.entries()[i];
    const at::Tensor full = layout.chunks_of_gathered(gathered, entry).reshape({-1});
    EXPECT_TRUE(layout.whole(full, entry).equal(wholes[i])) << "parameter " << i;
  }
  EXPECT_FALSE(layout.is_dense());
}

TEST(FlatLayout, OneParameterNeedsNoUnpacking) {
  const FlatLayout even({{6, 5}}, 3, 1), uneven({{7, 5}}, 3, 1);
  EXPECT_TRUE(even.is_single());
  EXPECT_TRUE(even.is_dense());
  EXPECT_FALSE(uneven.is_dense());
}

TEST(FlatLayout, ParametersStartAligned) {
  const FlatLayout layout({{3}, {5}, {2, 2}}, 2, 0);
  for (const auto& entry : layout.entries()) EXPECT_EQ(entry.shard_offset % 32, 0);
}

}  // namespace
}  // namespace titan::parallel
