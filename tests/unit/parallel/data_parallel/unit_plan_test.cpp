#include "plugins/parallel/data_parallel/unit_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/nn/tree.hpp"
#include "core/plugin/host_table.hpp"
#include "tests/support/declare.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::parallel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const void* engine_interface(titan_string id) {
  return sdk::view(id) == TITAN_TREE_V1 ? nn::tree_interface() : nullptr;
}

class UnitPlans : public ::testing::Test {
 protected:
  nn::ModuleId leaf(nn::ModuleId parent, const char* name) {
    const auto id = tree_.add_leaf(parent, name, "titan.linear", {});
    tree_.add_parameter(id, testing::declare("weight", shape_));
    return id;
  }
  nn::ModuleId custom(nn::ModuleId parent, const char* name) {
    return tree_.add_custom(
        parent, name,
        [](void*, titan_frame*, const titan_tensor*, std::uint32_t, titan_tensor*, std::uint32_t) -> titan_error* {
          return nullptr;
        },
        nullptr, nullptr);
  }
  /// "unit: parameter parameter" for each.
  std::vector<std::string> plan() {
    std::vector<std::string> found;
    const strategy::Tree tree(sdk::TreeHandle{sdk::Host(host_.get()), reinterpret_cast<titan_tree*>(&tree_), 0});
    for (const UnitPlan& unit : plan_units(tree, experts_)) {
      found.push_back(std::string(unit.module.name()) + (unit.is_shared ? " (shared):" : ":"));
      if (std::string_view(unit.shards) != "fsdp") found.back() += std::string(" over ") + unit.shards + ":";
      for (const strategy::Parameter& parameter : unit.parameters) found.back() += " " + parameter.name();
    }
    return found;
  }

  std::set<std::string> experts_;
  const std::vector<std::int64_t> shape_{2, 2};
  const plugin::HostTable host_{plugin::HostServices{nullptr, engine_interface, 0, 1}};
  nn::Tree tree_;
};

TEST_F(UnitPlans, BlocksComeInTheOrderOfTheChain) {
  const auto norm = leaf(TITAN_MODULE_ROOT, "norm"), layer = custom(TITAN_MODULE_ROOT, "layers.0");
  leaf(custom(layer, "attention"), "wq");
  leaf(layer, "wo");
  tree_.add_to_chain(layer, 0);
  tree_.add_to_chain(norm, 0);
  EXPECT_THAT(plan(), ElementsAre("layers.0: layers.0.attention.wq.weight layers.0.wo.weight", "norm: norm.weight"));
}

TEST_F(UnitPlans, ModulesBesideTheChainFollow) {
  const auto loss = custom(TITAN_MODULE_ROOT, "loss");
  leaf(loss, "output");
  leaf(loss, "scale");
  tree_.add_to_chain(leaf(TITAN_MODULE_ROOT, "norm"), 0);
  EXPECT_THAT(plan(), ElementsAre("norm: norm.weight", "loss: loss.output.weight loss.scale.weight"));
}

TEST_F(UnitPlans, BlocksWithoutParametersAreNoUnits) {
  tree_.add_to_chain(custom(TITAN_MODULE_ROOT, "positions"), 0);
  tree_.add_to_chain(leaf(TITAN_MODULE_ROOT, "norm"), 0);
  EXPECT_THAT(plan(), ElementsAre("norm: norm.weight"));
}

TEST_F(UnitPlans, ExpertsAreUnitsOfTheirOwnBehindTheirBlock) {
  for (const char* name : {"layers.0", "layers.1"}) {
    const auto layer = custom(TITAN_MODULE_ROOT, name);
    leaf(custom(layer, "moe"), "experts");
    leaf(layer, "wo");
    tree_.add_to_chain(layer, 0);
  }
  experts_ = {"layers.0.moe.experts.weight", "layers.1.moe.experts.weight"};
  EXPECT_THAT(
      plan(),
      ElementsAre("layers.0: layers.0.wo.weight", "layers.0.moe.experts: over efsdp: layers.0.moe.experts.weight",
                  "layers.1: layers.1.wo.weight", "layers.1.moe.experts: over efsdp: layers.1.moe.experts.weight"));
}

TEST_F(UnitPlans, SharedParametersStayWithTheirOwner) {
  const auto tok = leaf(TITAN_MODULE_ROOT, "tok"), layer = custom(TITAN_MODULE_ROOT, "layers.0");
  const auto inner = leaf(layer, "inner"), again = tree_.add_leaf(layer, "again", "titan.linear", {});
  tree_.share_parameter(again, "weight", inner, 0);
  const auto output = tree_.add_leaf(TITAN_MODULE_ROOT, "output", "titan.linear", {});
  tree_.share_parameter(output, "weight", tok, 0);
  for (const auto block : {tok, layer, output}) tree_.add_to_chain(block, 0);
  // Inside one unit nothing has to stay for others.
  EXPECT_THAT(plan(), ElementsAre("tok (shared): tok.weight", "layers.0: layers.0.inner.weight"));
}

TEST_F(UnitPlans, ParametersOfOtherStagesAreLeftOut) {
  const auto tok = leaf(TITAN_MODULE_ROOT, "tok"), norm = leaf(TITAN_MODULE_ROOT, "norm");
  for (const auto block : {tok, norm}) tree_.add_to_chain(block, 0);
  tree_.keep_chain({{1, 1, 1}});
  EXPECT_THAT(plan(), ElementsAre("norm: norm.weight"));
}

TEST_F(UnitPlans, ParametersAboveTheChainAreRefused) {
  const auto model = custom(TITAN_MODULE_ROOT, "model");
  leaf(model, "scale");
  tree_.add_to_chain(leaf(model, "layers.0"), 0);
  try {
    plan();
    FAIL();
  } catch (const sdk::ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("model.scale"));
  }
}

}  // namespace
}  // namespace titan::parallel
