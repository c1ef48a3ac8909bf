#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "tests/unit/nn/fused_reference.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::expect_close_to_fp64;
using titan::testing::LeafTree;

/// Labels of which a quarter is ignored.
at::Tensor labels_with_holes(std::int64_t vocab) {
  return at::randint(vocab, {2, 30}, at::kLong).masked_fill(at::randint(4, {2, 30}).eq(0), -100);
}

TEST(CrossEntropy, IsCloseToFp64ForOddAndLargeVocabularies) {
  for (const std::int64_t vocab : {1, 2, 33, 100, 9001}) {
    const at::Tensor logits = at::randn({2, 30, vocab}) * 3, labels = labels_with_holes(vocab);
    // A single word has no loss at all: nothing to be relative to.
    if (vocab > 1) expect_close_to_fp64("titan.cross_entropy", {}, {}, {logits, labels}, 1, at::kFloat, 2e-6);
    if (vocab > 1) expect_close_to_fp64("titan.cross_entropy", {}, {}, {logits, labels}, 1, at::kBFloat16, 1e-2);
  }
}

TEST(CrossEntropy, LossIsFp32OrFp64) {
  LeafTree leaf("titan.cross_entropy", {});
  const at::Tensor logits = at::randn({1, 4, 8}), labels = at::zeros({1, 4}, at::kLong);
  EXPECT_EQ(leaf({logits.to(at::kBFloat16), labels}).front().scalar_type(), at::kFloat);
  EXPECT_EQ(leaf({logits.to(at::kHalf), labels}).front().scalar_type(), at::kFloat);
  EXPECT_EQ(leaf({logits.to(at::kDouble), labels}).front().scalar_type(), at::kDouble);
  EXPECT_EQ(leaf({logits, labels}).front().dim(), 0);
}

TEST(CrossEntropy, AllIgnoredIsZeroInEveryDtype) {
  LeafTree leaf("titan.cross_entropy", {});
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    const at::Tensor logits = at::randn({2, 3, 5}).to(type).requires_grad_(true);
    const at::Tensor loss = leaf({logits, at::full({2, 3}, -100, at::kLong)}).front();
    EXPECT_EQ(loss.item<double>(), 0.0);
    loss.backward();
    EXPECT_TRUE(logits.grad().equal(at::zeros_like(logits)));
  }
}

TEST(CrossEntropy, NotANumberIsNotHidden) {
  LeafTree leaf("titan.cross_entropy", {});
  for (const float bad : {NAN, INFINITY}) {
    at::Tensor logits = at::randn({1, 1, 100});
    logits[0][0][7] = bad;
    EXPECT_FALSE(std::isfinite(leaf({logits, at::zeros({1, 1}, at::kLong)}).front().item<float>())) << bad;
  }
}

TEST(CrossEntropy, ScalesWithTheIncomingGradient) {
  LeafTree leaf("titan.cross_entropy", {});
  const at::Tensor labels = at::zeros({1, 3}, at::kLong);
  const at::Tensor one = at::randn({1, 3, 9}).requires_grad_(true), third = one.detach().clone().requires_grad_(true);
  leaf({one, labels}).front().backward();
  (leaf({third, labels}).front() / 4).backward();
  EXPECT_TRUE(third.grad().equal(one.grad() / 4));
}

TEST(CrossEntropy, LabelsOutOfRangeAreRefused) {
  LeafTree leaf("titan.cross_entropy", {});
  const at::Tensor logits = at::zeros({1, 2, 8});
  for (const std::int64_t label : {8, -1, -101}) {
    EXPECT_THAT(
        [&] {
          leaf({logits, at::full({1, 2}, label, at::kLong)});
        },
        ThrowsMessage<PluginError>(HasSubstr("[leaf] label out of range: " + std::to_string(label))));
  }
}

TEST(CrossEntropy, WrongShapesAreNamed) {
  LeafTree leaf("titan.cross_entropy", {});
  EXPECT_THAT(
      [&] {
        leaf({at::zeros({2, 8}), at::zeros({1, 2}, at::kLong)});
      },
      ThrowsMessage<PluginError>(HasSubstr("logits must have 3, has [2, 8]")));
  EXPECT_THAT(
      [&] {
        leaf({at::zeros({1, 2, 8}), at::zeros({1, 3}, at::kLong)});
      },
      ThrowsMessage<PluginError>(HasSubstr("labels must have 2 in dim 1")));
  EXPECT_THAT(
      [&] {
        leaf({at::zeros({1, 2, 8}), at::zeros({1, 2})});
      },
      ThrowsMessage<PluginError>(HasSubstr("labels is Float")));
}

}  // namespace
}  // namespace titan::nn
