#include "plugins/parallel/context_parallel/block_attention.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include "tests/support/compare.hpp"

namespace titan::parallel {
namespace {

using titan::testing::relative_difference;

constexpr double kScale = 0.3;

/// Kv heads 0 and 1, each for two heads of queries.
struct Inputs {
  at::Tensor q = at::randn({2, 4, 6, 8}, at::kDouble), k = at::randn({2, 2, 6, 8}, at::kDouble),
             v = at::randn({2, 2, 6, 8}, at::kDouble);
};

at::Tensor scores(const at::Tensor& q, const at::Tensor& k) {
  return at::einsum("bnqh,bnkh->bnqk", {q, k.repeat_interleave(2, 1)}) * kScale;
}

TEST(BlockAttention, GivesOutputsAndTheLogOfTheSums) {
  const Inputs in;
  const PartialAttention found = attend(in.q, in.k, in.v, false, kScale);
  const at::Tensor all = scores(in.q, in.k);
  EXPECT_LT(relative_difference(found.log_sum, at::logsumexp(all, -1)), 1e-14);
  const at::Tensor expected = at::softmax(all, -1).matmul(in.v.repeat_interleave(2, 1));
  EXPECT_LT(relative_difference(found.out, expected), 1e-14);
}

TEST(BlockAttention, MergesPartsOfTheKeysIntoAttentionOverAll) {
  const Inputs in;
  const PartialAttention whole = attend(in.q, in.k.narrow(2, 0, 2), in.v.narrow(2, 0, 2), false, kScale);
  merge(whole, attend(in.q, in.k.narrow(2, 2, 4), in.v.narrow(2, 2, 4), false, kScale));
  const PartialAttention expected = attend(in.q, in.k, in.v, false, kScale);
  EXPECT_LT(relative_difference(whole.out, expected.out), 1e-14);
  EXPECT_LT(relative_difference(whole.log_sum, expected.log_sum), 1e-14);
}

TEST(BlockAttention, MergesIntoTheLastQueriesOnly) {
  const Inputs in;
  const at::Tensor front = in.k.narrow(2, 0, 2), front_values = in.v.narrow(2, 0, 2);
  const PartialAttention whole = attend(in.q, front, front_values, false, kScale);
  merge(whole, attend(in.q.narrow(2, 3, 3), in.k.narrow(2, 2, 4), in.v.narrow(2, 2, 4), false, kScale));
  const PartialAttention first = attend(in.q, front, front_values, false, kScale);
  const PartialAttention all = attend(in.q, in.k, in.v, false, kScale);
  EXPECT_TRUE(whole.out.narrow(2, 0, 3).equal(first.out.narrow(2, 0, 3)));
  EXPECT_LT(relative_difference(whole.out.narrow(2, 3, 3), all.out.narrow(2, 3, 3)), 1e-14);
}

TEST(BlockAttention, MergesSumsThatDifferByMoreThanAnExponentHolds) {
  const Inputs in;
  const PartialAttention whole = attend(in.q, in.k * 1e4, in.v, false, kScale);
  const PartialAttention expected{whole.out.clone(), whole.log_sum.clone()};
  const PartialAttention nothing{in.q.clone(), whole.log_sum - 1e5}, everything{in.q.clone(), whole.log_sum + 1e5};
  merge(whole, nothing);
  EXPECT_TRUE(whole.out.equal(expected.out));
  EXPECT_TRUE(whole.log_sum.equal(expected.log_sum));
  merge(whole, everything);
  EXPECT_TRUE(whole.out.equal(everything.out));
}

TEST(BlockAttention, IsSummedInFloat32ForSmallerDtypes) {
  const Inputs in;
  const auto small = [](const at::Tensor& tensor) { return tensor.to(at::kBFloat16); };
  const PartialAttention found = attend(small(in.q), small(in.k), small(in.v), false, kScale);
  EXPECT_EQ(found.out.scalar_type(), at::kFloat);
  EXPECT_EQ(found.log_sum.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace titan::parallel
