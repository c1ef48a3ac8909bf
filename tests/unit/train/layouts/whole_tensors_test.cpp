#include "core/train/layouts/whole_tensors.hpp"

#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "tests/unit/train/layouts/parted.hpp"

namespace titan::train {
namespace {

TEST(PartedTensor, IsPutTogetherFromItsParts) {
  const at::Tensor whole = at::randn({4, 3});
  const PartedTensor parted = sharded(whole, 2);
  EXPECT_TRUE(parted.whole().equal(whole));
  EXPECT_TRUE(parted.is_complete());
  EXPECT_TRUE(parted.is_consistent());
}

TEST(PartedTensor, IsIncompleteWithoutAPart) {
  PartedTensor parted = sharded(at::randn({4, 3}), 2);
  parted.parts.pop_back();
  EXPECT_FALSE(parted.is_complete());
}

TEST(PartedTensor, IsInconsistentWhereReplicasDiffer) {
  const at::Tensor one = at::randn({2, 2});
  EXPECT_TRUE(replicated({one, one}).is_consistent());
  EXPECT_FALSE(replicated({one, at::randn({2, 2})}).is_consistent());
}

void add_weight(nn::Tree& tree) {
  const auto module = tree.add_leaf(TITAN_MODULE_ROOT, "leaf", "titan.linear", {});
  const std::vector<std::int64_t> shape{2, 3};
  titan_parameter weight{};
  weight.struct_size = sizeof weight;
  weight.num_dims = 2;
  weight.name = {"weight", 6};
  weight.shape = shape.data();
  weight.init = TITAN_INIT_CONSTANT;
  weight.value = 1;
  tree.add_parameter(module, weight);
  tree.materialise({at::kDouble, at::kDouble, at::kDouble}, at::kCPU, 0);
}

TEST(WholeTensors, KeepCopiesInOrderOfRank) {
  nn::Tree tree;
  add_weight(tree);
  WholeTensors tensors;
  tensors.add(1, tree, &nn::Parameter::storage);
  tree.parameters().front()->storage.detach().fill_(2);
  tensors.add(0, tree, &nn::Parameter::storage);
  const auto taken = tensors.take();
  const PartedTensor& weight = taken.at("leaf.weight");
  ASSERT_EQ(weight.parts.size(), 2U);
  EXPECT_EQ(weight.parts[0].values.sum().item<double>(), 12);
  EXPECT_EQ(weight.parts[1].values.sum().item<double>(), 6);
  EXPECT_TRUE(tensors.take().empty());
}

TEST(WholeTensors, LeaveOutWhatIsNotThere) {
  nn::Tree tree;
  add_weight(tree);
  WholeTensors tensors;
  tensors.add(0, tree, &nn::Parameter::gradient);
  EXPECT_TRUE(tensors.take().empty());
}

}  // namespace
}  // namespace titan::train
