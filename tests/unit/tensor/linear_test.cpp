#include "core/tensor/linear.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>

#include <string>
#include <utility>
#include <vector>

#include "core/tensor/products.hpp"

namespace titan::tensor {
namespace {

using torch::autograd::variable_list;

/// The output, and the gradients of x and the weight.
variable_list differentiate(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& grad) {
  const at::Tensor leaf = x.detach().requires_grad_(), factor = weight.detach().requires_grad_();
  const at::Tensor out = at::linear(leaf, factor);
  variable_list found = torch::autograd::grad({out}, {leaf, factor}, {grad});
  found.push_back(out);
  return found;
}

at::Tensor random(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) { return at::randn(sizes).to(dtype); }

std::string node_of(const at::Tensor& tensor) { return tensor.grad_fn() ? tensor.grad_fn()->name() : "none"; }

class OneNodeLinear : public ::testing::Test {
 protected:
  OneNodeLinear() { use_one_node_linear(); }
};

void expect_libtorchs_bits(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& grad) {
  const variable_list ours = differentiate(x, weight, grad);
  const variable_list plain = [&] {
    const WithoutFastProducts as_libtorch_does;
    return differentiate(x, weight, grad);
  }();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].sizes(), plain[i].sizes()) << i;
    EXPECT_EQ(ours[i].scalar_type(), plain[i].scalar_type()) << i;
    EXPECT_TRUE(ours[i].equal(plain[i])) << i;
  }
}

TEST_F(OneNodeLinear, HasTheBitsOfLibtorchs) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
    const at::Tensor weight = random({24, 40}, dtype);
    for (const std::vector<std::int64_t>& rows : {std::vector<std::int64_t>{7}, {2, 9}, {3, 1, 5}, {0, 4}}) {
      auto in = rows, out = rows;
      in.push_back(40);
      out.push_back(24);
      SCOPED_TRACE(std::string(c10::toString(dtype)) + ", dims " + std::to_string(in.size()));
      expect_libtorchs_bits(random(in, dtype), weight, random(out, dtype));
    }
  }
}

// As a rank of a layer that is cut among more ranks than it has rows.
TEST_F(OneNodeLinear, MayHaveNoFeatures) {
  expect_libtorchs_bits(random({2, 6, 40}), random({0, 40}), random({2, 6, 0}));
  expect_libtorchs_bits(random({2, 6, 0}), random({24, 0}), random({2, 6, 24}));
  expect_libtorchs_bits(random({5, 0}), random({0, 0}), random({5, 0}));
}

TEST_F(OneNodeLinear, TakesAnyLayout) {
  const at::Tensor x = random({40, 2, 6}), grad = random({24, 2, 6});
  expect_libtorchs_bits(x.permute({1, 2, 0}), random({24, 40}), grad.permute({1, 2, 0}));
  expect_libtorchs_bits(random({2, 6, 40}), random({40, 24}).t(), random({24}).expand({2, 6, 24}));
  expect_libtorchs_bits(random({2, 6, 80}).slice(2, 0, 80, 2), random({24, 40}), at::ones({}).expand({2, 6, 24}));
}

TEST_F(OneNodeLinear, IsOneNode) {
  const at::Tensor x = random({2, 5, 40}), weight = random({24, 40}).requires_grad_();
  EXPECT_EQ(node_of(at::linear(x, weight)), "LinearBackward");
  EXPECT_EQ(node_of(at::linear(x, weight.detach())), "none");
  {
    const at::NoGradGuard no_grad;
    EXPECT_EQ(node_of(at::linear(x, weight)), "none");
  }
  const WithoutFastProducts as_libtorch_does;
  EXPECT_EQ(node_of(at::linear(x, weight)).find("LinearBackward"), std::string::npos);
}

TEST_F(OneNodeLinear, KeepsOnlyWhatIsAskedFor) {
  at::Tensor x = random({2, 5, 40}).requires_grad_();
  const at::Tensor frozen = random({24, 40}), weight = random({24, 40}).requires_grad_();
  EXPECT_TRUE(torch::autograd::grad({at::linear(x, frozen).sum()}, {x})[0].defined());
  EXPECT_EQ(x.use_count(), 1) << "a frozen weight has no gradient that needs x";
  const at::Tensor tokens = random({2, 5, 40});
  const at::Tensor out = at::linear(tokens, weight);
  EXPECT_EQ(torch::autograd::grad({out.sum()}, {weight})[0].sizes(), weight.sizes());
}

TEST_F(OneNodeLinear, SeesWhatWasChangedInPlace) {
  const at::Tensor x = random({5, 40}), weight = random({24, 40}).requires_grad_();
  const at::Tensor out = at::linear(x, weight);
  x.add_(1);
  EXPECT_THROW(out.sum().backward(), c10::Error);
}

TEST_F(OneNodeLinear, CanBeDifferentiatedTwice) {
  const at::Tensor x = random({2, 3, 8}, at::kDouble).requires_grad_(),
                   weight = random({5, 8}, at::kDouble).requires_grad_();
  const auto second = [&] {
    const at::Tensor loss = at::linear(x, weight).pow(3).sum();
    const at::Tensor first = torch::autograd::grad({loss}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
    return torch::autograd::grad({first.pow(2).sum()}, {x, weight});
  };
  const variable_list ours = second();
  const WithoutFastProducts as_libtorch_does;
  const variable_list plain = second();
  EXPECT_TRUE(ours[0].allclose(plain[0], 1e-12, 1e-12));
  EXPECT_TRUE(ours[1].allclose(plain[1], 1e-12, 1e-12));
}

TEST_F(OneNodeLinear, LeavesABiasToLibtorch) {
  const at::Tensor x = random({2, 5, 40}), weight = random({24, 40}), bias = random({24}).requires_grad_();
  const at::Tensor out = at::linear(x, weight, bias);
  EXPECT_TRUE(out.allclose(at::linear(x, weight) + bias, 1e-5, 1e-5));
  EXPECT_NE(node_of(out), "LinearBackward");
  EXPECT_EQ(at::linear(random({40}), weight).sizes(), at::IntArrayRef({24}));
}

TEST_F(OneNodeLinear, TakesShapesWithoutValues) {
  const at::Tensor x = at::empty({2, 5, 40}, at::kMeta).requires_grad_(),
                   weight = at::empty({24, 40}, at::kMeta).requires_grad_();
  const at::Tensor out = at::linear(x, weight);
  EXPECT_EQ(out.sizes(), at::IntArrayRef({2, 5, 24}));
  EXPECT_EQ(node_of(out), "LinearBackward");
  out.sum().backward();
  EXPECT_EQ(x.grad().sizes(), x.sizes());
  EXPECT_EQ(weight.grad().sizes(), weight.sizes());
}

TEST_F(OneNodeLinear, RefusesWrongSizes) {
  EXPECT_THROW(at::linear(random({5, 39}), random({24, 40}).requires_grad_()), c10::Error);
  EXPECT_THROW(at::linear(random({}), random({24, 40}).requires_grad_()), c10::Error);
}

}  // namespace
}  // namespace titan::tensor
