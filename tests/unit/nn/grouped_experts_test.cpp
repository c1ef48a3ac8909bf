#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/nn/grouped_product.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/leaf_tree.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using titan::testing::LeafTree;
using titan::testing::relative_difference;

struct Case {
  at::ScalarType type;
  std::int64_t dim, hidden;
  std::vector<std::int64_t> counts;
  bool at_once;  // libtorch takes these sizes in one call
  double tolerance;
};

/// The sum over experts, one at a time, with libtorch's own gradients.
struct Loop {
  at::Tensor x, w1, w2, w3, out;

  Loop(const Case& one, const at::Tensor& of_x, const LeafTree::Parameters& weights)
      : x(leaf(of_x)), w1(leaf(weights[0].second)), w2(leaf(weights[1].second)), w3(leaf(weights[2].second)) {
    std::vector<at::Tensor> parts;
    std::int64_t first = 0;
    for (std::size_t e = 0; e < one.counts.size(); ++e) {
      const at::Tensor rows = x.narrow(0, first, one.counts[e]);
      const auto expert = static_cast<std::int64_t>(e);
      const at::Tensor hidden = at::silu(at::linear(rows, w1[expert])) * at::linear(rows, w3[expert]);
      parts.push_back(at::linear(hidden, w2[expert]));
      first += one.counts[e];
    }
    out = at::cat(parts);
  }
  static at::Tensor leaf(const at::Tensor& value) { return value.detach().to(at::kDouble).requires_grad_(true); }
};

class GroupedExperts : public ::testing::TestWithParam<Case> {};

TEST_P(GroupedExperts, EqualsALoopOverExperts) {
  const Case& one = GetParam();
  const auto experts = static_cast<std::int64_t>(one.counts.size());
  const at::Tensor counts = at::tensor(one.counts, at::kLong);
  const at::Tensor x = at::randn({counts.sum().item<std::int64_t>(), one.dim}).to(one.type).requires_grad_(true);
  const LeafTree::Parameters weights = {{"w1", at::randn({experts, one.hidden, one.dim}).mul(0.3).to(one.type)},
                                        {"w2", at::randn({experts, one.dim, one.hidden}).mul(0.3).to(one.type)},
                                        {"w3", at::randn({experts, one.hidden, one.dim}).mul(0.3).to(one.type)}};
  EXPECT_EQ(has_grouped_product(x, weights[0].second), one.at_once);
  LeafTree leaf("titan.grouped_experts", {}, weights);
  const at::Tensor out = leaf({x, counts}).front();
  const Loop loop(one, x, weights);
  EXPECT_EQ(out.scalar_type(), one.type);
  EXPECT_LE(relative_difference(out, loop.out), one.tolerance);
  // Without memory of its own, as the gradient of a sum: libtorch's grouped product refuses those.
  const at::Tensor grad = at::ones({}, one.type).expand(out.sizes());
  out.backward(grad);
  loop.out.backward(grad.to(at::kDouble));
  EXPECT_LE(relative_difference(x.grad(), loop.x.grad()), one.tolerance);
  for (const auto& [name, reference] : {std::pair("w1", loop.w1), std::pair("w2", loop.w2), std::pair("w3", loop.w3)}) {
    ASSERT_TRUE(leaf.gradient(name).defined()) << name;
    if (x.size(0) == 0) {
      EXPECT_EQ(leaf.gradient(name).abs().sum().item<double>(), 0) << name;
    } else {
      EXPECT_LE(relative_difference(leaf.gradient(name), reference.grad()), one.tolerance) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GroupedExperts,
                         ::testing::Values(Case{at::kFloat, 24, 20, {3, 0, 5, 1}, true, 1e-5},
                                           Case{at::kFloat, 10, 7, {3, 0, 5, 1}, false, 1e-5},
                                           Case{at::kDouble, 24, 20, {0, 4, 0, 3}, false, 1e-12},
                                           Case{at::kBFloat16, 16, 32, {2, 7, 0, 0}, true, 2e-2},
                                           Case{at::kBFloat16, 10, 7, {0, 0, 9, 0}, false, 2e-2},
                                           Case{at::kFloat, 24, 20, {0, 0, 0}, false, 1e-5},
                                           Case{at::kFloat, 24, 20, {6}, true, 1e-5}),
                         [](const auto& one) { return "Number" + std::to_string(one.index); });

TEST(GroupedExpertsInputs, AreChecked) {
  LeafTree leaf("titan.grouped_experts", {},
                {{"w1", at::zeros({2, 4, 8})}, {"w2", at::zeros({2, 8, 4})}, {"w3", at::zeros({2, 4, 8})}});
  const auto error_of = [&](const at::Tensor& x, const at::Tensor& counts) -> std::string {
    try {
      leaf({x, counts});
    } catch (const PluginError& error) {
      return error.what();
    }
    return "no error";
  };
  const auto counts = [](std::vector<std::int64_t> rows) { return at::tensor(rows, at::kLong); };
  EXPECT_THAT(error_of(at::zeros({3, 8}), counts({1, 1})), HasSubstr("counts must add up to the rows of x: 2, 3"));
  EXPECT_THAT(error_of(at::zeros({3, 8}), counts({4, -1})), HasSubstr("counts must not be negative"));
  EXPECT_THAT(error_of(at::zeros({3, 8}), counts({3})), HasSubstr("counts must have 2"));
  EXPECT_THAT(error_of(at::zeros({3, 7}), counts({3, 0})), HasSubstr("x must have 8"));
  EXPECT_THAT(error_of(at::zeros({3, 8}), at::zeros({2})), HasSubstr("input must be int64: counts"));
}

}  // namespace
}  // namespace titan::nn
