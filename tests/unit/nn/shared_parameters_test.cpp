// One parameter of several modules.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/nn/tree.hpp"
#include "tests/support/declare.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using titan::testing::declare;

/// tok [5, 3], norm, and output with tok's weight.
struct TiedModel {
  Tree tree;
  ModuleId tok, norm, output;

  TiedModel() {
    tok = tree.add_leaf(TITAN_MODULE_ROOT, "tok", "titan.embedding", {});
    tree.add_parameter(tok, declare("weight", {5, 3}, 0.5));
    norm = tree.add_leaf(TITAN_MODULE_ROOT, "norm", "titan.rms_norm", {{"eps", 1e-6}});
    tree.add_parameter(norm, declare("weight", {3}, 1));
    output = tree.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {});
    tree.share_parameter(output, "weight", tok, 0);
    for (const ModuleId block : {tok, norm, output}) tree.add_to_chain(block, 0);
    tree.set_loss(tree.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {}));
  }
};

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SharedParameters, CountOnceAndAreFoundByEachName) {
  TiedModel model;
  model.tree.validate();
  ASSERT_EQ(model.tree.parameters().size(), 2U);
  EXPECT_EQ(model.tree.find_parameter("output.weight"), model.tree.find_parameter("tok.weight"));
  EXPECT_EQ(model.tree.find_parameter("output.weight")->name, "tok.weight");
}

TEST(SharedParameters, GradientIsTheSumOfAllUses) {
  TiedModel model;
  model.tree.materialise({at::kDouble, at::kDouble, at::kDouble}, at::kCPU, 1);
  const at::Tensor tokens = at::tensor({0, 2}, at::kLong).view({1, 2}), x = at::randn({1, 2, 3}, at::kDouble);
  const at::Tensor weight = model.tree.find_parameter("tok.weight")->compute;
  (model.tree.call(model.tok, {tokens}).front().sum() + model.tree.call(model.output, {x}).front().sum()).backward();
  at::Tensor expected = x.flatten(0, 1).sum(0).expand({5, 3}).clone();
  expected[0] += 1;
  expected[2] += 1;
  EXPECT_TRUE(at::allclose(weight.grad(), expected));
}

TEST(SharedParameters, OwnersAreTold) {
  TiedModel model;
  const titan_tree_v1& table = *tree_interface();
  auto* tree = reinterpret_cast<titan_tree*>(&model.tree);
  titan_module owner = 0;
  std::uint32_t index = 7;
  ASSERT_EQ(table.parameter_owner(tree, model.output, 0, &owner, &index), nullptr);
  EXPECT_EQ(owner, model.tok);
  EXPECT_EQ(index, 0U);
  titan_parameter found{};
  found.struct_size = sizeof found;
  ASSERT_EQ(table.parameter(tree, model.output, 0, &found), nullptr);
  EXPECT_EQ(std::string(found.name.data, found.name.size), "weight");
}

TEST(SharedParameters, AreRefusedWhereTheyMakeNoSense) {
  TiedModel model;
  Tree& tree = model.tree;
  EXPECT_THAT(error_of([&] { tree.share_parameter(model.output, "bias", model.tok, 1); }),
              HasSubstr("no such parameter to share: number 1"));
  EXPECT_THAT(error_of([&] { tree.share_parameter(model.output, "weight", model.norm, 0); }),
              HasSubstr("duplicate name: output.weight"));
  EXPECT_THAT(error_of([&] { tree.share_parameter(model.tok, "again", model.tok, 0); }),
              HasSubstr("cannot share a parameter with itself"));
}

TEST(SharedParameters, CannotLieOnDifferentStages) {
  TiedModel model;
  EXPECT_THAT(error_of([&] {
                model.tree.keep_chain({{0, 0, 2}});
              }),
              ::testing::AllOf(HasSubstr("tok.weight and output"), HasSubstr("pipeline_parallel_degree 1")));
  TiedModel other;
  other.tree.keep_chain({{0, 0, 3}});
  EXPECT_EQ(other.tree.parameters().size(), 2U);
}

}  // namespace
}  // namespace titan::nn
