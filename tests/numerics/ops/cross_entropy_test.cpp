#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "tests/support/compare.hpp"
#include "tests/support/leaf_tree.hpp"
#include "tests/support/safetensors.hpp"
#include "tests/support/vectors.hpp"

namespace titan::nn {
namespace {

using titan::testing::load_safetensors;
using titan::testing::NamedTensors;
using titan::testing::scaled_difference;

constexpr double kTolerance = 1e-6;

class CrossEntropyVectors : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path path = "ops/cross_entropy.safetensors";
    TITAN_REQUIRE_VECTORS(path);
    vectors_ = load_safetensors(titan::testing::vectors_dir() / path);
  }
  at::Tensor loss(const at::Tensor& logits, const at::Tensor& labels) { return leaf_({logits, labels}).front(); }
  /// The vectors keep scalars as [1].
  at::Tensor scalar(const char* name) { return vectors_.at(name).squeeze(); }

  NamedTensors vectors_;
  titan::testing::LeafTree leaf_{"titan.cross_entropy", {}};
};

TEST_F(CrossEntropyVectors, SumAndMeanOverValidTokens) {
  const at::Tensor logits = vectors_.at("logits").clone().requires_grad_(true), &labels = vectors_.at("labels");
  const at::Tensor sum = loss(logits, labels), mean = sum / scalar("valid_tokens");
  EXPECT_LE(scaled_difference(sum, scalar("loss_sum")), kTolerance);
  EXPECT_LE(scaled_difference(mean, scalar("loss")), kTolerance);
  mean.backward();
  EXPECT_LE(scaled_difference(logits.grad(), vectors_.at("grad_logits")), kTolerance);
}

TEST_F(CrossEntropyVectors, GradientsBehindTheHead) {
  const auto hidden = vectors_.at("hidden").clone().requires_grad_(true);
  const auto head = vectors_.at("lm_head").clone().requires_grad_(true);
  (loss(at::linear(hidden, head), vectors_.at("labels")) / scalar("valid_tokens")).backward();
  EXPECT_LE(scaled_difference(hidden.grad(), vectors_.at("grad_hidden")), kTolerance);
  EXPECT_LE(scaled_difference(head.grad(), vectors_.at("grad_lm_head")), kTolerance);
}

TEST_F(CrossEntropyVectors, ChunksAlongTheSequenceAddUp) {
  for (const std::int64_t chunks : {2, 4, 8}) {
    const auto hidden = vectors_.at("hidden").clone().requires_grad_(true);
    const auto pieces = hidden.chunk(chunks, 1), labels = vectors_.at("labels").chunk(chunks, 1);
    at::Tensor sum = at::zeros_like(scalar("loss_sum"));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      sum = sum + loss(at::linear(pieces[i], vectors_.at("lm_head")), labels[i]);
    }
    const at::Tensor mean = sum / scalar("valid_tokens");
    EXPECT_LE(scaled_difference(mean, scalar("loss")), kTolerance) << chunks;
    mean.backward();
    EXPECT_LE(scaled_difference(hidden.grad(), vectors_.at("grad_hidden")), kTolerance) << chunks;
  }
}

TEST_F(CrossEntropyVectors, ExtremeLogits) {
  const at::Tensor logits = vectors_.at("extreme.logits").clone().requires_grad_(true);
  const at::Tensor sum = loss(logits, vectors_.at("extreme.labels"));
  EXPECT_LE(scaled_difference(sum, scalar("extreme.loss_sum")), kTolerance);
  sum.backward();
  EXPECT_LE(scaled_difference(logits.grad(), vectors_.at("extreme.grad_logits_of_sum")), kTolerance);
}

TEST_F(CrossEntropyVectors, AllIgnoredIsZeroWithZeroGradients) {
  const at::Tensor logits = vectors_.at("logits").clone().requires_grad_(true);
  const at::Tensor sum = loss(logits, at::full_like(vectors_.at("labels"), -100));
  EXPECT_EQ(sum.item<float>(), scalar("all_ignored.loss_sum").item<float>());
  sum.backward();
  EXPECT_TRUE(logits.grad().equal(at::zeros_like(logits)));
}

}  // namespace
}  // namespace titan::nn
