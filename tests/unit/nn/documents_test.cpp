#include "core/nn/documents.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace titan::nn {
namespace {

using Row = std::array<std::int64_t, 3>;

std::vector<Row> found(const at::Tensor& positions) {
  const at::Tensor table = find_documents(positions);
  std::vector<Row> rows;
  for (const Document& document : documents(table)) rows.push_back({document.row, document.start, document.length});
  return rows;
}

at::Tensor positions(const std::vector<std::int64_t>& values, std::int64_t rows) {
  return at::tensor(values).view({rows, -1});
}

TEST(Documents, BeginWithRowsAndWherePositionsRestart) {
  EXPECT_EQ(found(positions({0, 1, 2, 0, 1, 0, 0, 1, 2, 3, 4, 5}, 2)),
            (std::vector<Row>{{0, 0, 3}, {0, 3, 2}, {0, 5, 1}, {1, 0, 6}}));
}

TEST(Documents, OfOneTokenEach) {
  EXPECT_EQ(found(positions({0, 0, 0}, 1)), (std::vector<Row>{{0, 0, 1}, {0, 1, 1}, {0, 2, 1}}));
}

TEST(Documents, MayBeginInTheirMiddleAndLeaveGaps) {
  EXPECT_EQ(found(positions({7, 8, 20, 0, 1}, 1)), (std::vector<Row>{{0, 0, 3}, {0, 3, 2}}));
}

TEST(Documents, OfTransposedPositionsAndOfNone) {
  EXPECT_EQ(found(positions({0, 0, 1, 1, 2, 2}, 3).t()), (std::vector<Row>{{0, 0, 3}, {1, 0, 3}}));
  EXPECT_TRUE(found(at::empty({2, 0}, at::kLong)).empty());
}

}  // namespace
}  // namespace titan::nn
