#include "plugins/parallel/tensor_parallel/mixtures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/declare.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/parallel/tensor_parallel/rank_views.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

titan_error* nothing(void*, titan_frame*, const titan_tensor*, std::uint32_t, titan_tensor*, std::uint32_t) {
  return nullptr;
}

/// A tree of one block, without anything that could run.
struct Mixed {
  nn::Tree tree;
  nn::ModuleId block = custom(TITAN_MODULE_ROOT, "block");

  nn::ModuleId custom(nn::ModuleId parent, const char* name) {
    return tree.add_custom(parent, name, nothing, nullptr, nullptr);
  }
  void router(nn::ModuleId parent) {
    tree.add_leaf(parent, "router", "titan.router",
                  {{"num_experts", std::int64_t{2}}, {"top_k", std::int64_t{1}}, {"score_func", "softmax"}});
  }
  void experts(nn::ModuleId parent) {
    const auto id = tree.add_leaf(parent, "experts", "titan.grouped_experts", {});
    const std::vector<std::int64_t> shape{2, 4, 3};
    titan_parameter weight = titan::testing::declare("w1", shape);
    weight.split = TITAN_SPLIT_EXPERT_COLUMN;
    tree.add_parameter(id, weight);
  }

  /// The names of the mixtures, or the error.
  std::vector<std::string> found(const std::set<std::string>& expert_parameters = {}) {
    tree.add_to_chain(block, 0);
    std::vector<std::string> names;
    titan::testing::run_rank_threads(1, [&](comm::Communicator& communicator) {
      const RankViews views(tree, communicator);
      try {
        const Mixtures mixtures(views.tree(), expert_parameters);
        for (const auto& module : mixtures.modules()) names.emplace_back(module.name());
      } catch (const sdk::ConfigError& error) {
        names.emplace_back(error.what());
      }
    });
    return names;
  }
};

TEST(Mixtures, AreTheNearestModulesWithExpertsAndRouter) {
  Mixed model;
  const auto moe = model.custom(model.block, "moe");
  model.router(model.custom(moe, "gate"));
  model.experts(model.custom(moe, "inner"));
  EXPECT_THAT(model.found(), ElementsAre("block.moe"));
}

TEST(Mixtures, AreTheParentsOfExpertsWhereTheModelRoutesByOtherMeans) {
  Mixed model;
  model.experts(model.custom(model.custom(model.block, "moe"), "inner"));
  EXPECT_THAT(model.found(), ElementsAre("block.moe.inner"));
}

TEST(Mixtures, DoNotIncludeThoseWhoseExpertsAreSpread) {
  Mixed model;
  model.experts(model.custom(model.block, "moe"));
  EXPECT_THAT(model.found({"block.moe.experts.w1"}), ElementsAre());
}

TEST(Mixtures, MustNotBeWholeBlocks) {
  Mixed model;
  model.router(model.block);
  model.experts(model.block);
  EXPECT_THAT(model.found(), ElementsAre(HasSubstr("in a module of their own, below a block of the chain: "
                                                   "block.experts")));
}

TEST(Mixtures, ContainWhatStandsBelowThem) {
  Mixed model;
  const auto moe = model.custom(model.block, "moe");
  model.experts(moe);
  model.custom(model.custom(moe, "shared"), "w1");
  model.custom(model.block, "beside");
  model.tree.add_to_chain(model.block, 0);
  titan::testing::run_rank_threads(1, [&](comm::Communicator& communicator) {
    const RankViews views(model.tree, communicator);
    const Mixtures mixtures(views.tree(), {});
    std::vector<std::string> inside;
    for (const auto& module : views.tree().modules()) {
      if (mixtures.contains(module)) inside.emplace_back(module.name());
    }
    EXPECT_THAT(inside, ElementsAre("block.moe.experts", "block.moe.shared", "block.moe.shared.w1"));
  });
}

}  // namespace
}  // namespace titan::parallel
