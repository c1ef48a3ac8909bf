#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/nn/tree.hpp"
#include "tests/support/declare.hpp"
#include "tests/support/error_text.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using titan::testing::declare;
using titan::testing::error_text;

titan_string text(std::string_view value) { return {value.data(), value.size()}; }

/// A tree of one linear leaf with a weight [4, 2], on dp_shard 2.
class PlacementTable : public ::testing::Test {
 protected:
  PlacementTable() {
    module_ = tree_.add_leaf(TITAN_MODULE_ROOT, "w", "titan.linear", {});
    tree_.add_parameter(module_, declare("weight", shape_, 1.0));
    tree_.set_mesh(config::Mesh({1, 1, 2, 1, 1}, 2));
  }
  titan_tree* handle() { return reinterpret_cast<titan_tree*>(&tree_); }
  std::string get(std::int32_t box, at::Tensor& out) {
    titan_tensor raw = nullptr;
    const std::string error = error_text(table_.get_box(handle(), module_, 0, box, &raw));
    out = handle::own(raw);
    return error;
  }
  std::string set(std::int32_t box, const at::Tensor& value) {
    return error_text(table_.set_box(handle(), module_, 0, box, handle::lend(value)));
  }

  std::vector<std::int64_t> shape_{4, 2};
  const titan_tree_v1& table_ = *tree_interface();
  Tree tree_;
  titan_module module_;
};

TEST_F(PlacementTable, ShardsAndReadsThePart) {
  EXPECT_EQ(error_text(table_.shard(handle(), module_, 0, text("fsdp"), 0, 1, 3)), "");
  std::array<std::int64_t, 2> offsets{}, sizes{};
  EXPECT_EQ(error_text(table_.get_part(handle(), module_, 0, offsets.data(), sizes.data())), "");
  EXPECT_EQ(offsets, (std::array<std::int64_t, 2>{1, 0}));
  EXPECT_EQ(sizes, (std::array<std::int64_t, 2>{3, 2}));
}

TEST_F(PlacementTable, WrongArgumentsAreErrors) {
  EXPECT_THAT(error_text(table_.shard(handle(), module_, 1, text("fsdp"), 0, 1, 3)),
              HasSubstr("[w] no such parameter: number 1"));
  EXPECT_THAT(error_text(table_.shard(handle(), module_, 0, text("dp_shrad"), 0, 1, 3)),
              HasSubstr("no such axis or group: dp_shrad"));
  EXPECT_THAT(error_text(table_.shard(nullptr, module_, 0, text("fsdp"), 0, 1, 3)), HasSubstr("tree is NULL"));
  EXPECT_THAT(error_text(table_.get_part(handle(), module_, 0, nullptr, nullptr)), HasSubstr("pointer is NULL"));
  EXPECT_THAT(error_text(table_.mark_gradient(handle(), module_, 0, text("fsdp"), TITAN_GRADIENT_PARTIAL)),
              HasSubstr("[w.weight]"));
  EXPECT_THAT(error_text(table_.declare_gradient(handle(), 7, 0, text("fsdp"), TITAN_GRADIENT_EQUAL)),
              HasSubstr("no such module: number 7"));
}

TEST_F(PlacementTable, KeepsOnlyWhatThereIs) {
  EXPECT_EQ(table_.is_kept(handle(), module_, 0), 1);
  EXPECT_EQ(table_.is_kept(handle(), module_, 1), 0);
  EXPECT_EQ(table_.is_kept(handle(), 7, 0), 0);
  EXPECT_EQ(table_.is_kept(nullptr, module_, 0), 0);
}

TEST_F(PlacementTable, LedgerCallsReachTheTree) {
  EXPECT_EQ(error_text(table_.declare_gradient(handle(), module_, 0, text("tp"), TITAN_GRADIENT_EQUAL)), "");
  EXPECT_EQ(error_text(table_.mark_gradient(handle(), module_, 0, text("fsdp"), TITAN_GRADIENT_EQUAL)), "");
  tree_.materialise({}, at::kCPU, 0);
  tree_.find_parameter("w.weight")->gradient = at::ones({4, 2});
  EXPECT_NO_THROW(tree_.check_ledger());
}

TEST_F(PlacementTable, BoxesBelongToWhoTookThemOver) {
  tree_.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 0);
  EXPECT_THAT(set(TITAN_BOX_COMPUTE, at::ones({4, 2})), HasSubstr("take_over was not called"));
  EXPECT_THAT(set(TITAN_BOX_GRADIENT, at::ones({4, 2})), HasSubstr("take_over was not called"));
  EXPECT_THAT(set(TITAN_BOX_STORAGE, at::ones({4, 2})), HasSubstr("its storage cannot be replaced"));
  EXPECT_THAT(set(9, at::ones({4, 2})), HasSubstr("unknown tensor of a parameter: number 9"));
  at::Tensor storage, gradient;
  EXPECT_EQ(get(TITAN_BOX_STORAGE, storage), "");
  EXPECT_TRUE(storage.is_same(tree_.find_parameter("w.weight")->storage));
  EXPECT_EQ(get(TITAN_BOX_GRADIENT, gradient), "");
  EXPECT_FALSE(gradient.defined());
}

TEST_F(PlacementTable, OwnedBoxesAreSetAndCleared) {
  EXPECT_EQ(error_text(table_.take_over(handle(), module_, 0, TITAN_OWN_COMPUTE | TITAN_OWN_GRADIENT)), "");
  tree_.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 0);
  const at::Tensor mine = at::ones({4, 2});
  at::Tensor seen;
  for (const std::int32_t box : {TITAN_BOX_COMPUTE, TITAN_BOX_GRADIENT}) {
    EXPECT_EQ(set(box, mine), "");
    EXPECT_EQ(get(box, seen), "");
    EXPECT_TRUE(seen.is_same(mine));
    EXPECT_EQ(set(box, {}), "");
    EXPECT_EQ(get(box, seen), "");
    EXPECT_FALSE(seen.defined());
  }
  EXPECT_EQ(mine.use_count(), 1) << "no reference is left behind";
}

TEST_F(PlacementTable, PrecisionIsTheRunsPolicy) {
  tree_.materialise({at::kDouble, at::kBFloat16, at::kFloat}, at::kCPU, 0);
  std::int32_t storage = 0, compute = 0, reduce = 0;
  EXPECT_EQ(error_text(table_.precision(handle(), &storage, &compute, &reduce)), "");
  EXPECT_EQ(storage, TITAN_FLOAT64);
  EXPECT_EQ(compute, TITAN_BFLOAT16);
  EXPECT_EQ(reduce, TITAN_FLOAT32);
}

}  // namespace
}  // namespace titan::nn
