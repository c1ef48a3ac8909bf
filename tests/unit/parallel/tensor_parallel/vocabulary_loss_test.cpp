#include "plugins/parallel/tensor_parallel/vocabulary_loss.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full_like.h>
#include <gtest/gtest.h>

#include <limits>

#include "plugins/parallel/chunk.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/parallel/tensor_parallel/rank_views.hpp"

namespace titan::parallel {
namespace {

using titan::testing::run_rank_threads;

constexpr std::int64_t kRows = 3, kLength = 4;
constexpr double kScale = 0.25;

/// Different numbers, some of them large: the largest of a row must be taken away before exp.
at::Tensor all_logits(std::int64_t vocab, at::ScalarType dtype) {
  const at::Tensor numbers = at::arange(kRows * kLength * vocab, at::kDouble);
  return numbers.mul(37).remainder(101).sub(50).view({kRows, kLength, vocab}).to(dtype);
}

/// Every third label is to be ignored.
at::Tensor all_labels(std::int64_t vocab) {
  const at::Tensor numbers = at::arange(kRows * kLength, at::kLong);
  return numbers.mul(5).remainder(vocab).masked_fill(numbers.remainder(3).eq(1), kIgnoredLabel).view({kRows, kLength});
}

struct Result {
  at::Tensor loss, gradient;
};

/// Loss and gradient of all logits on one rank, in float64.
Result reference(const at::Tensor& whole, const at::Tensor& labels) {
  const at::Tensor logits = whole.to(at::kDouble).clone().requires_grad_(true);
  const at::Tensor loss = at::cross_entropy_loss(logits.flatten(0, 1), labels.flatten(), {}, at::Reduction::Sum, -100);
  loss.backward(at::full_like(loss, kScale));
  return {loss.detach(), logits.grad()};
}

void expect_same(std::int64_t vocab, std::int64_t ranks, at::ScalarType dtype, double tolerance) {
  const at::Tensor whole = all_logits(vocab, dtype), labels = all_labels(vocab);
  const Result expected = reference(whole, labels);
  run_rank_threads(config::Mesh({1, 1, 1, 1, ranks}, ranks), [&](comm::Communicator& communicator) {
    nn::Tree tree;
    const RankViews views(tree, communicator);
    const Rows mine = chunk(vocab, ranks, communicator.rank());
    const at::Tensor logits = whole.narrow(2, mine.first, mine.count).clone().requires_grad_(true);
    const VocabularyPart part{mine.first, mine.count, vocab};
    const at::Tensor loss = vocabulary_cross_entropy(logits, labels, part, views.mesh().group("tp"));
    EXPECT_EQ(loss.scalar_type(), dtype == at::kDouble ? at::kDouble : at::kFloat);
    EXPECT_LT(titan::testing::relative_difference(loss, expected.loss), tolerance);
    loss.backward(at::full_like(loss, kScale));
    ASSERT_EQ(logits.grad().scalar_type(), dtype);
    const at::Tensor gradient = expected.gradient.narrow(2, mine.first, mine.count);
    EXPECT_LT(titan::testing::scaled_difference(logits.grad(), gradient), tolerance) << "rank " << communicator.rank();
    for (const auto& record : communicator.records().snapshot()) EXPECT_EQ(record.op, "all_reduce");
    EXPECT_EQ(communicator.records().count(), 2U) << "forward's largest and sums; backward needs nobody";
  });
}

TEST(VocabularyLoss, IsThatOfAllLogits) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    expect_same(12, ranks, at::kDouble, 1e-14);
    expect_same(12, ranks, at::kFloat, 1e-6);
    expect_same(12, ranks, at::kBFloat16, 2e-3);
  }
}

TEST(VocabularyLoss, PartsMayBeUnevenAndEmpty) {
  for (const std::int64_t vocab : {13, 5, 2, 1}) expect_same(vocab, 4, at::kDouble, 1e-14);
}

TEST(VocabularyLoss, WorksThroughManyRowsPieceByPiece) {
  // 12 rows of 300000 words: several pieces of 2^20 elements.
  expect_same(300001, 2, at::kFloat, 1e-6);
}

TEST(VocabularyLoss, WithoutAValidLabelIsZero) {
  run_rank_threads(config::Mesh({1, 1, 1, 1, 2}, 2), [](comm::Communicator& communicator) {
    nn::Tree tree;
    const RankViews views(tree, communicator);
    // What is ignored is not read, as little as on one rank: not even when it is no number.
    const at::Tensor logits =
        at::full_like(all_logits(3, at::kFloat), std::numeric_limits<double>::quiet_NaN()).requires_grad_(true);
    const at::Tensor labels = at::full_like(all_labels(6), kIgnoredLabel);
    const at::Tensor loss =
        vocabulary_cross_entropy(logits, labels, {3 * communicator.rank(), 3, 6}, views.mesh().group("tp"));
    loss.backward();
    EXPECT_EQ(loss.item<float>(), 0.0F);
    EXPECT_EQ(logits.grad().abs().max().item<float>(), 0.0F);
  });
}

TEST(VocabularyLoss, OfLogitsThatAreNoNumbersIsNoNumber) {
  run_rank_threads(config::Mesh({1, 1, 1, 1, 2}, 2), [](comm::Communicator& communicator) {
    nn::Tree tree;
    const RankViews views(tree, communicator);
    const at::Tensor logits = all_logits(6, at::kFloat);
    if (communicator.rank() == 0) logits[0][0][0] = std::numeric_limits<double>::quiet_NaN();
    const at::Tensor loss =
        vocabulary_cross_entropy(logits, all_labels(12), {6 * communicator.rank(), 6, 12}, views.mesh().group("tp"));
    EXPECT_TRUE(loss.isnan().item<bool>());
  });
}

}  // namespace
}  // namespace titan::parallel
