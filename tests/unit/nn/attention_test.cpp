#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/leaf_tree.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::LeafTree;
using titan::testing::scaled_difference;

/// Attention written out: softmax(q k / sqrt(H), where `allowed` [B,1,L,S]) v, in the dtype of its inputs.
at::Tensor written_out(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& allowed) {
  const std::int64_t groups = q.size(2) / k.size(2);
  const auto heads = [](const at::Tensor& x) { return x.transpose(1, 2); };
  const auto shared = [&](const at::Tensor& x) { return heads(x).repeat_interleave(groups, 1); };
  const at::Tensor scores = at::matmul(heads(q), shared(k).transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  return heads(at::matmul(scores.masked_fill(allowed.logical_not(), -INFINITY).softmax(-1), shared(v)));
}

at::Tensor causal(std::int64_t length) { return at::ones({1, 1, length, length}, at::kBool).tril(); }

/// Allows a query the keys of its own document: documents are counted from `starts` [B,L].
at::Tensor same_document(const at::Tensor& positions) {
  const at::Tensor number = positions.eq(0).cumsum(1);
  return number.unsqueeze(1).eq(number.unsqueeze(2)).unsqueeze(1).logical_and(causal(positions.size(1)));
}

/// Three rows: several documents, one document, documents of one token among others.
at::Tensor packed_positions() {
  return at::tensor({0, 1, 2, 3, 4,  0,  1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 4, 5,
                     6, 7, 8, 9, 10, 11, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0},
                    at::kLong)
      .view({3, 12});
}

/// Compares outputs and all gradients of the leaf with attention written out.
void expect_same(LeafTree& leaf, const Tensors& extra, const at::Tensor& allowed, at::ScalarType type,
                 std::int64_t kv_heads, double tolerance) {
  const std::int64_t rows = allowed.size(0), length = allowed.size(2);
  const auto make = [&](std::int64_t heads) { return at::randn({rows, length, heads, 8}).to(type); };
  const Tensors values = {make(4), make(kv_heads), make(kv_heads)};
  const auto copy = [&] {
    Tensors copies;
    for (const auto& value : values) copies.push_back(value.detach().clone().requires_grad_(true));
    return copies;
  };
  const Tensors ours = copy(), exact = copy();
  Tensors in = ours;
  in.insert(in.end(), extra.begin(), extra.end());
  const at::Tensor out = leaf(in).front(), expected = written_out(exact[0], exact[1], exact[2], allowed);
  EXPECT_LE(scaled_difference(out, expected), tolerance);
  const at::Tensor grad = at::randn_like(expected);
  out.backward(grad);
  expected.backward(grad);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LE(scaled_difference(ours[i].grad(), exact[i].grad()), tolerance) << "input " << i;
  }
}

TEST(Attention, BlockCausalEqualsTheMaskWrittenOut) {
  LeafTree leaf("titan.attention", {{"mask", "block_causal"}});
  const at::Tensor positions = packed_positions(), allowed = same_document(positions);
  for (const std::int64_t kv_heads : {1, 2, 4}) {
    expect_same(leaf, {positions}, allowed, at::kDouble, kv_heads, 1e-13);
    expect_same(leaf, {positions}, allowed, at::kFloat, kv_heads, 2e-6);
  }
  expect_same(leaf, {positions}, allowed, at::kBFloat16, 2, 3e-2);
}

TEST(Attention, BlockCausalOfWholeRowsIsCausal) {
  LeafTree leaf("titan.attention", {{"mask", "block_causal"}});
  const at::Tensor positions = at::arange(12).expand({3, 12});
  expect_same(leaf, {positions}, causal(12).expand({3, 1, 12, 12}), at::kDouble, 2, 1e-13);
}

TEST(Attention, CausalAndNoneIgnorePositions) {
  LeafTree masked("titan.attention", {{"mask", "causal"}}), open("titan.attention", {{"mask", "none"}});
  const at::Tensor positions = packed_positions();
  expect_same(masked, {positions}, causal(12).expand({3, 1, 12, 12}), at::kDouble, 2, 1e-13);
  expect_same(masked, {}, causal(12).expand({3, 1, 12, 12}), at::kFloat, 4, 2e-6);
  expect_same(open, {}, at::ones({3, 1, 12, 12}, at::kBool), at::kDouble, 2, 1e-13);
}

TEST(Attention, DocumentsAreWorkedOutOnceForAllLayers) {
  LeafTree leaf("titan.attention", {{"mask", "block_causal"}});
  const at::Tensor x = at::randn({3, 12, 4, 8}), positions = packed_positions();
  Frame outer(leaf.tree(), TITAN_MODULE_ROOT, Phase::training);
  leaf.tree().call(1, {x, x, x, positions}, &outer);
  int made = 0;
  outer.memo().get("documents", positions, [&] { return ++made, positions; });
  EXPECT_EQ(made, 0);
}

TEST(Attention, NothingInNothingOut) {
  LeafTree leaf("titan.attention", {{"mask", "causal"}});
  const at::Tensor q = at::zeros({0, 3, 4, 8}), kv = at::zeros({0, 3, 2, 8});
  EXPECT_EQ(leaf({q, kv, kv}).front().sizes(), q.sizes());
}

TEST(Attention, WrongInputsAreNamed) {
  LeafTree leaf("titan.attention", {{"mask", "block_causal"}});
  const at::Tensor q = at::zeros({1, 3, 4, 8}), kv = at::zeros({1, 3, 2, 8}), positions = at::zeros({1, 3}, at::kLong);
  const auto expect = [&](const Tensors& in, const char* text) {
    EXPECT_THAT([&] { leaf(in); }, ThrowsMessage<PluginError>(HasSubstr(text)));
  };
  expect({q, kv}, "[leaf] wrong number of inputs: takes 3 to 4, given 2");
  expect({q, kv, kv}, "[leaf] mask block_causal needs positions as fourth input");
  expect({q[0], kv, kv, positions}, "q must have 4, has [3, 4, 8]");
  expect({q, kv, q, positions}, "v has [1, 3, 4, 8] beside [1, 3, 2, 8]");
  expect({kv, q, q, positions}, "heads must be a multiple of kv heads: 2, 4");
  expect({q, kv.to(at::kDouble), kv, positions}, "one dtype");
  expect({q, kv, kv, positions.to(at::kInt)}, "positions is Int");
  expect({q, kv, kv, at::zeros({1, 4}, at::kLong)}, "positions must have 3 in dim 1");
}

TEST(Attention, AttributesAreChecked) {
  EXPECT_THAT([] { LeafTree leaf("titan.attention", {}); }, ThrowsMessage<PluginError>(HasSubstr("missing: mask")));
  EXPECT_THAT(
      [] {
        LeafTree leaf("titan.attention", {{"mask", "causl"}});
      },
      ThrowsMessage<PluginError>(HasSubstr("none, causal, block_causal: mask is \"causl\"")));
}

}  // namespace
}  // namespace titan::nn
