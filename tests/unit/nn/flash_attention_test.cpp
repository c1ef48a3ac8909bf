#include "core/nn/flash_attention.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <string>

#include "core/nn/documents.hpp"
#include "core/nn/plain_attention.hpp"
#include "core/tensor/meta_kernels.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

at::Tensor heads(std::int64_t rows, std::int64_t tokens, std::int64_t count, std::int64_t dim, at::ScalarType type) {
  return at::randn({rows, tokens, count, dim}).to(type).transpose(1, 2);
}

struct Inputs {
  Inputs(std::int64_t rows, std::int64_t length, std::int64_t dim, at::ScalarType type)
      : q(heads(rows, length, 4, dim, type)),
        k(heads(rows, length, 2, dim, type)),
        v(heads(rows, length, 2, dim, type)),
        grad(heads(rows, length, 4, dim, type)) {}
  at::Tensor q, k, v, grad;
};

std::vector<at::Tensor> outcome(const Inputs& in, const std::optional<at::Tensor>& documents, bool is_causal) {
  const auto [out, sums] = flash_attention(in.q, in.k, in.v, documents, is_causal, 0.3);
  const auto [q, k, v] = flash_attention_backward(in.grad, in.q, in.k, in.v, out, sums, documents, is_causal, 0.3);
  return {out, sums, q, k, v};
}

std::vector<at::Tensor> plain_outcome(const Inputs& in, const std::optional<at::Tensor>& documents, bool is_causal) {
  const auto [out, sums] = plain_attention(in.q, in.k, in.v, documents, is_causal, 0.3);
  const auto [q, k, v] = plain_attention_backward(in.grad, in.q, in.k, in.v, out, sums, documents, is_causal, 0.3);
  return {out, sums, q, k, v};
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a.to(at::kDouble) - b.to(at::kDouble)).abs().max() / b.abs().max()).item<double>();
}

void expect_near(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected, double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_LE(difference(found[i], expected[i]), tolerance) << i;
}

/// Two rows: documents of 50, 1, 1 and 148 tokens, and one of 200.
at::Tensor two_rows_of_documents() {
  std::vector<at::Tensor> first;
  for (const std::int64_t length : {50, 1, 1, 148}) first.push_back(at::arange(length));
  return find_documents(at::stack({at::cat(first), at::arange(200)}));
}

class FlashAttention : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  FlashAttention() { at::manual_seed(4); }
  double tolerance() const { return GetParam() == at::kFloat ? 5e-6 : GetParam() == at::kDouble ? 1e-12 : 2e-2; }
};

TEST_P(FlashAttention, EqualsLibtorchs) {
  for (const std::int64_t dim : {16, 20, 64}) {
    SCOPED_TRACE(dim);
    const Inputs in(2, 90, dim, GetParam());
    for (const bool is_causal : {false, true}) {
      expect_near(outcome(in, {}, is_causal), plain_outcome(in, {}, is_causal), tolerance());
    }
  }
}

TEST_P(FlashAttention, DocumentsDoNotSeeEachOther) {
  const Inputs in(2, 200, 16, GetParam());
  const at::Tensor found = two_rows_of_documents();
  ASSERT_EQ(found.size(0), 5);
  expect_near(outcome(in, found, true), plain_outcome(in, found, true), tolerance());
  const auto joined = outcome(in, {}, true), apart = outcome(in, found, true);
  EXPECT_GT(difference(joined[0][0], apart[0][0]), 1e-2);
  EXPECT_TRUE(joined[0][1].equal(apart[0][1])) << "a row that is one document";
}

TEST_P(FlashAttention, ThreadsDoNotChangeABit) {
  const int before = at::get_num_threads();
  const at::Tensor found = two_rows_of_documents();
  for (const bool has_documents : {false, true}) {
    for (const std::int64_t rows : {1, 2}) {
      if (has_documents && rows == 1) continue;
      const Inputs in(rows, 200, 16, GetParam());
      const auto documents = has_documents ? std::optional(found) : std::nullopt;
      at::set_num_threads(1);
      const auto one = outcome(in, documents, true);
      for (const int count : {2, 3, 7}) {
        at::set_num_threads(count);
        const auto many = outcome(in, documents, true);
        SCOPED_TRACE(std::to_string(count) + " threads");
        expect_near(many, one, GetParam() == at::kDouble ? 1e-12 : 0);  // fp64 runs on libtorch's kernel
      }
    }
  }
  at::set_num_threads(before);
}

TEST_P(FlashAttention, TakesAnyStrides) {
  const Inputs in(2, 40, 16, GetParam());
  Inputs other = in;
  for (at::Tensor* x : {&other.q, &other.k, &other.v}) *x = x->transpose(2, 3).contiguous().transpose(2, 3);
  other.grad = other.grad.contiguous();
  const double rounding = GetParam() == at::kDouble ? 1e-12 : 0;  // fp64 runs on libtorch's kernel
  expect_near(outcome(other, {}, true), outcome(in, {}, true), rounding);
  other.grad = at::ones({1}).to(GetParam()).expand_as(in.grad);
  Inputs ones = in;
  ones.grad = at::ones_like(in.grad);
  expect_near(outcome(other, {}, true), outcome(ones, {}, true), rounding);
}

TEST_P(FlashAttention, MetaTensorsGetTheSameForm) {
  const Inputs in(2, 40, 16, GetParam());
  Inputs shapes = in;
  for (at::Tensor* x : {&shapes.q, &shapes.k, &shapes.v, &shapes.grad}) *x = x->to(at::kMeta);
  tensor::register_meta_kernels();  // for libtorch's kernel, on which fp64 runs
  const auto real = outcome(in, {}, true), found = outcome(shapes, {}, true);
  for (std::size_t i = 0; i < real.size(); ++i) {
    EXPECT_EQ(found[i].sizes(), real[i].sizes());
    EXPECT_EQ(found[i].strides(), real[i].strides());
    EXPECT_EQ(found[i].scalar_type(), real[i].scalar_type());
  }
}

TEST_P(FlashAttention, Differentiates) {
  const Inputs in(2, 40, 16, GetParam());
  const auto expected = outcome(in, {}, true);
  const at::Tensor q = in.q.clone().requires_grad_(true), k = in.k.clone(), v = in.v.clone().requires_grad_(true);
  const auto [out, sums] = flash_attention(q, k, v, {}, true, 0.3);
  EXPECT_TRUE(out.equal(expected[0]));
  EXPECT_FALSE(sums.requires_grad());
  out.backward(in.grad);
  EXPECT_TRUE(q.grad().equal(expected[2]));
  EXPECT_FALSE(k.grad().defined());
  EXPECT_TRUE(v.grad().equal(expected[4]));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, FlashAttention, ::testing::Values(at::kFloat, at::kBFloat16, at::kDouble),
                         [](const auto& tested) { return c10::toString(tested.param); });

TEST(FlashAttentionErrors, ASecondDerivativeIsRefused) {
  const at::Tensor q = heads(1, 8, 2, 16, at::kFloat).requires_grad_(true);
  const at::Tensor out = std::get<0>(flash_attention(q, q, q, {}, true, 1));
  EXPECT_THAT([&] { torch::autograd::grad({out.sum()}, {q}, {}, true, /*create_graph=*/true); },
              ThrowsMessage<c10::Error>(HasSubstr("attention has no second derivative")));
}

TEST(FlashAttentionErrors, ABackwardPassRunsOnce) {
  const at::Tensor q = heads(1, 8, 2, 16, at::kFloat).requires_grad_(true);
  const at::Tensor sum = std::get<0>(flash_attention(q, q, q, {}, true, 1)).sum();
  sum.backward();
  EXPECT_THROW(sum.backward(), std::exception);
}

TEST(FlashAttentionErrors, AnInputChangedInPlaceIsNoticed) {
  const at::Tensor q = heads(1, 8, 2, 16, at::kFloat).requires_grad_(true), k = q.detach().clone();
  const at::Tensor sum = std::get<0>(flash_attention(q, k, k, {}, true, 1)).sum();
  k.add_(1);
  EXPECT_THAT([&] { sum.backward(); }, ThrowsMessage<c10::Error>(HasSubstr("modified by an inplace operation")));
}

TEST(FlashAttentionErrors, ShapesThatDoNotMatch) {
  const at::Tensor q = heads(1, 8, 4, 16, at::kFloat), k = heads(1, 8, 3, 16, at::kFloat);
  EXPECT_THROW(flash_attention(q, k, k, {}, true, 1), c10::Error);
  EXPECT_THROW(flash_attention(q, q, q.to(at::kBFloat16), {}, true, 1), c10::Error);
  EXPECT_THROW(flash_attention(q, q.narrow(2, 0, 0), q.narrow(2, 0, 0), {}, true, 1), c10::Error);
}

}  // namespace
}  // namespace titan::nn
