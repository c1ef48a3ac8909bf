#include "core/optim/global_norm.hpp"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <array>

namespace titan::optim {
namespace {

using config::Axis;

nn::Parameter& add_parameter(nn::Tree& tree, const char* name) {
  const std::int64_t shape[] = {6, 2};
  titan_parameter declaration{};
  declaration.struct_size = sizeof declaration;
  declaration.num_dims = 2;
  declaration.name = {"weight", 6};
  declaration.shape = shape;
  declaration.init = TITAN_INIT_CONSTANT;
  tree.add_parameter(tree.add_leaf(TITAN_MODULE_ROOT, name, "titan.linear", {}), declaration);
  return *tree.find_parameter(std::string(name) + ".weight");
}

/// One rank of 2 x 3: "whole" replicated, "part" sharded on dp_shard; all gradients are 2.
double squares_of(std::int64_t rank) {
  const config::Mesh mesh({1, 2, 3, 1, 1}, 6);
  nn::Tree tree;
  add_parameter(tree, "whole");
  nn::Parameter& part = add_parameter(tree, "part");
  tree.set_mesh(mesh);
  tree.shard(part, {Axis::dp_shard}, 0, 2 * mesh.coordinate(rank, Axis::dp_shard), 2);
  for (const auto& parameter : tree.parameters()) parameter->gradient = at::full(parameter->part.size, 2.0);
  return counted_squares(tree, mesh, rank);
}

TEST(GlobalNorm, EveryElementCountsOnce) {
  EXPECT_EQ(squares_of(0), 12 * 4 + 4 * 4);  // the whole one, and its part of the other
  EXPECT_EQ(squares_of(1), 4 * 4);
  EXPECT_EQ(squares_of(3), 0);  // the second replica counts nothing
  double all = 0;
  for (std::int64_t rank = 0; rank < 6; ++rank) all += squares_of(rank);
  EXPECT_EQ(all, 24 * 4);
}

TEST(GlobalNorm, AnEmptyPartCountsNothing) {
  const config::Mesh mesh({1, 1, 2, 1, 1}, 2);
  nn::Tree tree;
  nn::Parameter& part = add_parameter(tree, "part");
  tree.set_mesh(mesh);
  tree.shard(part, {Axis::dp_shard}, 0, 6, 0);
  part.gradient = at::full({0, 2}, 1.0);
  EXPECT_TRUE(counts_here(part, mesh, 1));
  EXPECT_EQ(counted_squares(tree, mesh, 1), 0);
}

}  // namespace
}  // namespace titan::optim
