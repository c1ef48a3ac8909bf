#include "core/nn/fused.hpp"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <string>

#include "core/base/error.hpp"
#include "tests/support/leaf_tree.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::LeafTree;

void expect_one_derivative(const std::string& kernel, LeafTree& leaf, const Tensors& in, std::uint32_t num_outputs) {
  const at::Tensor total = leaf(in, num_outputs).front().sum();
  EXPECT_THAT([&] { torch::autograd::grad({total}, {in[0]}, {}, true, true); },
              ThrowsMessage<PluginError>(HasSubstr("[" + kernel + "] our own kernels are differentiated once")));
  EXPECT_TRUE(torch::autograd::grad({total}, {in[0]}).front().defined());
}

TEST(Fused, KernelsRefuseASecondDerivative) {
  const at::Tensor x = at::ones({2, 3, 4}).requires_grad_(true), heads = at::ones({2, 3, 1, 4}).requires_grad_(true);
  const at::Tensor ids = at::zeros({2, 3}, at::kLong);
  LeafTree norm("titan.rms_norm", {{"eps", 1e-5}}, {{"weight", at::ones({4})}});
  LeafTree swiglu("titan.swiglu", {}), loss("titan.cross_entropy", {});
  LeafTree rope("titan.rope", {{"theta", 1e4}, {"max_positions", std::int64_t{8}}});
  expect_one_derivative("rms_norm", norm, {x}, 1);
  expect_one_derivative("rms_norm", norm, {x, x}, 2);
  expect_one_derivative("swiglu", swiglu, {x, x}, 1);
  expect_one_derivative("cross_entropy", loss, {x, ids}, 1);
  expect_one_derivative("rope", rope, {heads, heads, ids}, 2);
}

}  // namespace
}  // namespace titan::nn
