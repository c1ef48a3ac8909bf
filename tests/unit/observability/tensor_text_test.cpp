#include "plugins/observability/tensor_text.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace titan::observability {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

at::Tensor counted(at::IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return at::arange(count, at::kFloat).reshape(sizes);
}

TEST(TensorText, TypeAndShape) {
  EXPECT_EQ(type_and_shape(at::zeros({2, 3}, at::kBFloat16)), "bfloat16 [2, 3]");
  EXPECT_EQ(type_and_shape(at::zeros({}, at::kLong)), "int64 []");
}

TEST(TensorText, StatsOfFiniteNumbers) {
  // Of 0, 1, 2, 3: the deviation with one degree of freedom less, as PyTorch's.
  EXPECT_EQ(stats_text(counted({2, 2})),
            "  min 0  max 3  mean 1.5  std 1.29099  norm 3.74166\n  zeros 1 of 4  NaN 0  inf 0\n");
  EXPECT_THAT(stats_text(at::tensor({-7.0})), HasSubstr("std n/a"));
}

TEST(TensorText, StatsNameTheFirstOfWhatIsNotFinite) {
  at::Tensor x = at::zeros({3, 4});
  x[1][2] = NAN;
  x[2][0] = NAN;
  x[0][3] = -INFINITY;
  EXPECT_THAT(stats_text(x), AllOf(HasSubstr("min -inf"), HasSubstr("max 0"), HasSubstr("NaN 2 (first at [1, 2])"),
                                   HasSubstr("inf 1 (first at [0, 3])"), HasSubstr("are of the finite ones")));
  EXPECT_EQ(stats_text(at::tensor({NAN})), "  zeros 0 of 1  NaN 1 (first at [0])  inf 0\n");
}

TEST(TensorText, StatsOfWhatHasNoNumbers) {
  EXPECT_EQ(stats_text(at::zeros({0, 4})), "  no elements\n");
  EXPECT_EQ(stats_text(at::empty({4}, at::TensorOptions(at::kMeta))), "  no memory (meta)\n");
}

TEST(TensorText, StatsGoThroughPiecesAndStrides) {
  at::Tensor x = at::zeros({2, (1 << 20) + 5});
  x[1][1 << 20] = NAN;
  EXPECT_THAT(stats_text(x), HasSubstr("NaN 1 (first at [1, 1048576])"));
  EXPECT_THAT(stats_text(x.t()), HasSubstr("NaN 1 (first at [1048576, 1])"));
}

TEST(TensorText, LookingAtATensorRecordsNothing) {
  at::Tensor x = counted({4});
  x.requires_grad_();
  EXPECT_THAT(stats_text(x), HasSubstr("max 3"));
  EXPECT_EQ(x.use_count(), 1U);
}

}  // namespace
}  // namespace titan::observability
