#include "core/train/gradients.hpp"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Five linear modules, each with a gradient of ones.
std::unique_ptr<nn::Tree> tree_with_gradients() {
  auto tree = std::make_unique<nn::Tree>();
  for (int i = 0; i < 5; ++i) {
    const std::string name = "w" + std::to_string(i);
    const std::int64_t shape[] = {2, 2};
    titan_parameter declaration{};
    declaration.struct_size = sizeof declaration;
    declaration.num_dims = 2;
    declaration.name = {"weight", 6};
    declaration.shape = shape;
    declaration.init = TITAN_INIT_CONSTANT;
    tree->add_parameter(tree->add_leaf(TITAN_MODULE_ROOT, name, "titan.linear", {}), declaration);
  }
  for (const auto& parameter : tree->parameters()) parameter->gradient = at::ones({2, 2});
  return tree;
}

std::string refusal(const nn::Tree& tree) {
  try {
    refuse_gradients(tree, 7, std::nan(""));
  } catch (const NonFiniteError& error) {
    return error.what();
  }
}

TEST(Gradients, TheRefusalNamesTheFirstOnesConcerned) {
  const auto tree = tree_with_gradients();
  tree->find_parameter("w1.weight")->gradient.fill_(INFINITY);
  EXPECT_THAT(refusal(*tree),
              AllOf(HasSubstr("step 7"), HasSubstr("1 of 5"), HasSubstr("w1.weight"), Not(HasSubstr("w0"))));
  for (const auto& parameter : tree->parameters()) parameter->gradient.fill_(std::nan(""));
  EXPECT_THAT(refusal(*tree),
              AllOf(HasSubstr("5 of 5"), HasSubstr("w0.weight, w1.weight, w2.weight, ..."), Not(HasSubstr("w3"))));
}

}  // namespace
}  // namespace titan::train
