#include "core/nn/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/declare.hpp"

namespace titan::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using titan::testing::declare;

titan_error* unused(void*, titan_frame*, const titan_tensor*, std::uint32_t, titan_tensor*, std::uint32_t) {
  return nullptr;
}

/// What `call` throws, or an empty text.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const PluginError& error) {
    return error.what();
  }
  return {};
}

ModuleId custom(Tree& tree, ModuleId parent, std::string_view name) {
  return tree.add_custom(parent, name, unused, nullptr, nullptr);
}

TEST(Tree, NamesAreFullyQualified) {
  Tree tree;
  const ModuleId block = custom(tree, TITAN_MODULE_ROOT, "layers.0"), attention = custom(tree, block, "attention");
  const ModuleId wq = tree.add_leaf(attention, "wq", "titan.linear", {});
  tree.add_parameter(wq, declare("weight", {4, 2}));
  EXPECT_EQ(tree.name(TITAN_MODULE_ROOT), "");
  EXPECT_EQ(tree.name(wq), "layers.0.attention.wq");
  EXPECT_EQ(tree.kind(wq), "titan.linear");
  EXPECT_EQ(tree.kind(attention), "custom");
  EXPECT_EQ(tree.parent(wq), attention);
  EXPECT_EQ(tree.num_modules(), 4U);
  ASSERT_NE(tree.find_parameter("layers.0.attention.wq.weight"), nullptr);
  EXPECT_THAT(tree.find_parameter("layers.0.attention.wq.weight")->shape, ElementsAre(4, 2));
  EXPECT_EQ(tree.parameters(wq).front(), tree.parameters().front().get());
  EXPECT_EQ(tree.find_parameter("weight"), nullptr);
}

TEST(Tree, DuplicateNamesAreRefused) {
  Tree tree;
  const ModuleId leaf = tree.add_leaf(TITAN_MODULE_ROOT, "a", "titan.linear", {});
  EXPECT_THAT(error_of([&] { custom(tree, TITAN_MODULE_ROOT, "a"); }), HasSubstr("duplicate name: a"));
  tree.add_parameter(leaf, declare("weight", {1, 1}));
  EXPECT_THAT(error_of([&] { tree.add_parameter(leaf, declare("weight", {1, 1})); }), HasSubstr("a.weight"));
  EXPECT_THAT(error_of([&] { custom(tree, leaf, "weight"); }), HasSubstr("duplicate name: a.weight"));
  const ModuleId other = custom(tree, TITAN_MODULE_ROOT, "b.c");
  EXPECT_THAT(error_of([&] { custom(tree, custom(tree, TITAN_MODULE_ROOT, "b"), "c"); }), HasSubstr("b.c"));
  EXPECT_EQ(tree.name(other), "b.c");
}

TEST(Tree, MalformedNamesAreRefused) {
  Tree tree;
  for (const std::string name : {"", ".", "a.", ".a", "a..b", "a b", "a\n", "\xff", "a/b"}) {
    EXPECT_THAT(error_of([&] { custom(tree, TITAN_MODULE_ROOT, name); }), HasSubstr("malformed name")) << name;
  }
  EXPECT_THAT(error_of([&] { custom(tree, TITAN_MODULE_ROOT, std::string(1000, 'a')); }), HasSubstr("malformed name"));
  EXPECT_EQ(tree.num_modules(), 1U);
}

TEST(Tree, UnknownModulesKindsAndCallbacksAreRefused) {
  Tree tree;
  EXPECT_THAT(error_of([&] { custom(tree, 7, "a"); }), HasSubstr("no such module: number 7"));
  EXPECT_THAT(error_of([&] { tree.add_leaf(TITAN_MODULE_ROOT, "a", "titan.linaer", {}); }),
              HasSubstr("[a] unknown leaf kind: \"titan.linaer\", known are: titan.linear"));
  EXPECT_THAT(error_of([&] { tree.add_custom(TITAN_MODULE_ROOT, "a", nullptr, nullptr, nullptr); }),
              HasSubstr("[a] the forward callback is NULL"));
  EXPECT_THAT(error_of([&] { tree.attach(7, 0, {}); }), HasSubstr("no such module"));
  EXPECT_EQ(custom(tree, TITAN_MODULE_ROOT, "a"), 1U) << "refused modules leave no trace";
}

TEST(Tree, ParametersAreChecked) {
  Tree tree;
  const ModuleId leaf = tree.add_leaf(TITAN_MODULE_ROOT, "a", "titan.linear", {});
  const auto refused = [&](auto change) {
    const std::vector<std::int64_t> shape = {2, 3};
    titan_parameter declaration = declare("weight", shape);
    change(declaration);
    return error_of([&] { tree.add_parameter(leaf, declaration); });
  };
  const std::vector<std::int64_t> empty_dim = {2, 0}, huge = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_THAT(refused([](auto& p) { p.num_dims = 0; }), HasSubstr("[a.weight] must have 1 to 8 dims"));
  EXPECT_THAT(refused([](auto& p) { p.num_dims = 1000; }), HasSubstr("given 1000"));
  EXPECT_THAT(refused([](auto& p) { p.shape = nullptr; }), HasSubstr("dims"));
  EXPECT_THAT(refused([](auto& p) { p.name.data = nullptr; }), HasSubstr("has no name"));
  EXPECT_THAT(refused([&](auto& p) { p.shape = empty_dim.data(); }), HasSubstr("above 0"));
  EXPECT_THAT(refused([&](auto& p) { p.shape = huge.data(); }), HasSubstr("too large"));
  EXPECT_THAT(refused([](auto& p) { p.split = 9; }), HasSubstr("unknown split: number 9"));
  EXPECT_THAT(refused([](auto& p) { p.split = TITAN_SPLIT_ROW, p.num_dims = 1; }), HasSubstr("two dims"));
  EXPECT_THAT(refused([](auto& p) { p.init = 0; }), HasSubstr("unknown initialiser"));
  EXPECT_THAT(refused([](auto& p) { p.value = 1 / p.value; }), HasSubstr("finite"));
  EXPECT_THAT(refused([](auto& p) { p.init = TITAN_INIT_NORMAL, p.std = -1; }), HasSubstr("std not negative"));
  EXPECT_THAT(refused([](auto& p) { p.init = TITAN_INIT_TRUNC_NORMAL, p.low = p.high = 1; }), HasSubstr("low"));
  EXPECT_TRUE(tree.parameters().empty());
}

TEST(Tree, ValidateNamesWhatIsMissing) {
  Tree tree;
  EXPECT_THAT(error_of([&] { tree.validate(); }), HasSubstr("no chain"));
  const ModuleId leaf = tree.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {});
  tree.add_to_chain(leaf, 0);
  EXPECT_THAT(error_of([&] { tree.validate(); }), HasSubstr("no loss"));
  tree.set_loss(tree.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {}));
  EXPECT_THAT(error_of([&] { tree.validate(); }), HasSubstr("[output] parameter is missing: weight"));
  tree.add_parameter(leaf, declare("weight", {2, 3, 4}));
  EXPECT_THAT(error_of([&] { tree.validate(); }), HasSubstr("[output] parameter has the wrong number of dims"));
}

TEST(Tree, ValidateRefusesParametersThatTheKindDoesNotTake) {
  Tree tree;
  const ModuleId leaf = tree.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {});
  tree.add_to_chain(leaf, 0);
  tree.set_loss(tree.add_leaf(TITAN_MODULE_ROOT, "loss", "titan.cross_entropy", {}));
  tree.add_parameter(leaf, declare("weight", {2, 3}));
  tree.validate();
  tree.add_parameter(leaf, declare("bias", {2}));
  EXPECT_THAT(error_of([&] { tree.validate(); }), HasSubstr("titan.linear takes 1, declared are 2"));
}

TEST(Tree, ChainAndLossAreChecked) {
  Tree tree;
  const ModuleId a = custom(tree, TITAN_MODULE_ROOT, "a"), b = custom(tree, TITAN_MODULE_ROOT, "b");
  tree.add_to_chain(b, TITAN_CHAIN_POSITIONS);
  tree.add_to_chain(a, 0);
  EXPECT_THAT(tree.chain(), ElementsAre(b, a));
  EXPECT_THAT(error_of([&] { tree.add_to_chain(a, 0); }), HasSubstr("[a] is in the chain already"));
  EXPECT_THAT(error_of([&] { tree.add_to_chain(TITAN_MODULE_ROOT, 0); }), HasSubstr("root"));
  EXPECT_THAT(error_of([&] { tree.add_to_chain(9, 0); }), HasSubstr("no such module"));
  const ModuleId c = custom(tree, TITAN_MODULE_ROOT, "c");
  EXPECT_THAT(error_of([&] { tree.add_to_chain(c, 128); }), HasSubstr("unknown bits"));
  EXPECT_FALSE(tree.loss_module().has_value());
  tree.set_loss(c);
  EXPECT_EQ(tree.loss_module(), c);
  EXPECT_THAT(error_of([&] { tree.set_loss(a); }), HasSubstr("set already: c"));
}

TEST(Tree, NothingIsAddedOnceParametersExist) {
  Tree tree;
  const ModuleId leaf = tree.add_leaf(TITAN_MODULE_ROOT, "a", "titan.linear", {});
  tree.materialise({}, at::kCPU, 0);
  EXPECT_THAT(error_of([&] { custom(tree, TITAN_MODULE_ROOT, "b"); }), HasSubstr("the tree is finished"));
  EXPECT_THAT(error_of([&] { tree.add_parameter(leaf, declare("weight", {1, 1})); }), HasSubstr("finished"));
  EXPECT_THAT(error_of([&] { tree.add_to_chain(leaf, 0); }), HasSubstr("finished"));
}

TEST(Tree, SelfIsFreedWithTheTreeAndOnlyWhenAdded) {
  int freed = 0;
  const auto count = [](void* self) { ++*static_cast<int*>(self); };
  {
    Tree tree;
    tree.add_custom(TITAN_MODULE_ROOT, "a", unused, &freed, count);
    EXPECT_NE(error_of([&] { tree.add_custom(TITAN_MODULE_ROOT, "a", unused, &freed, count); }), "");
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
}

}  // namespace
}  // namespace titan::nn
