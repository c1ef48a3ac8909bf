#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/nn/tree.hpp"
#include "tests/support/declare.hpp"

namespace titan::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using titan::testing::declare;

constexpr std::int64_t kExperts = 3;

/// Blocks with a router each, and one without a balance.
class Routers : public ::testing::Test {
 protected:
  Routers() {
    for (const char* name : {"layers.0", "layers.1"}) {
      const ModuleId block = tree_.add_custom(
          TITAN_MODULE_ROOT, name,
          [](void*, titan_frame*, const titan_tensor*, std::uint32_t, titan_tensor*, std::uint32_t) -> titan_error* {
            return nullptr;
          },
          nullptr, nullptr);
      routers_.push_back(router(block, "router.gate", 1e-3));
      tree_.add_to_chain(block, 0);
    }
    router(TITAN_MODULE_ROOT, "unbalanced", 0);
  }

  ModuleId router(ModuleId parent, const char* name, double coefficient) {
    const ModuleId id = tree_.add_leaf(parent, name, "titan.router",
                                       {{"num_experts", kExperts},
                                        {"top_k", std::int64_t{1}},
                                        {"score_func", std::string("sigmoid")},
                                        {"load_balance_coeff", coefficient}});
    tree_.add_parameter(id, declare("weight", {kExperts, 2}));
    return id;
  }
  void materialise() { tree_.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 1); }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const Buffer* buffer : tree_.buffers()) found.push_back(buffer->name);
    return found;
  }

  Tree tree_;
  std::vector<ModuleId> routers_;
};

TEST_F(Routers, BuffersBelongToTheModuleAbove) {
  EXPECT_THAT(names(), ElementsAre("layers.0.expert_bias", "layers.0.tokens_per_expert", "layers.1.expert_bias",
                                   "layers.1.tokens_per_expert"));
  materialise();
  for (const Buffer* buffer : tree_.buffers()) EXPECT_EQ(buffer->value.abs().sum().item<double>(), 0) << buffer->name;
  EXPECT_EQ(tree_.parameters().size(), 3U);
}

TEST_F(Routers, AllSummandsGoThroughOneSum) {
  materialise();
  for (const ModuleId router : routers_) tree_.call(router, {at::ones({4, 2})}, nullptr, 3);
  int num_sums = 0;
  tree_.update_buffers([&](const at::Tensor& summands) {
    ++num_sums;
    // Zero weights: all experts are equal, and the first is taken.
    EXPECT_TRUE(summands.equal(at::tensor({4, 0, 0, 4, 0, 0}, at::kLong)));
    // What another rank counted.
    summands.add_(at::tensor({0, 0, 0, 0, 4, 4}, at::kLong));
  });
  EXPECT_EQ(num_sums, 1);
  const auto buffers = tree_.buffers();
  EXPECT_LT(buffers[0]->value[0].item<float>(), 0);
  EXPECT_EQ(buffers[2]->value.abs().max().item<float>(), 0) << "counts of all ranks are in balance";
}

TEST_F(Routers, OnlyKeptStagesHaveBuffers) {
  tree_.set_mesh({});
  tree_.keep_chain({{1, 1, 1}});
  EXPECT_THAT(names(), ElementsAre("layers.1.expert_bias", "layers.1.tokens_per_expert"));
  materialise();
  tree_.update_buffers([](const at::Tensor& summands) { EXPECT_EQ(summands.numel(), kExperts); });
}

TEST_F(Routers, WithoutSummandsNothingIsSummed) {
  tree_.set_mesh({});
  Tree empty;
  empty.update_buffers([](const at::Tensor&) { ADD_FAILURE() << "there is nothing to sum"; });
}

TEST_F(Routers, TwoOfOneModuleAreRefused) {
  try {
    router(tree_.parent(routers_[0]), "again", 1e-3);
    FAIL() << "two biases of one name";
  } catch (const PluginError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has such a buffer already: layers.0.expert_bias"));
  }
}

}  // namespace
}  // namespace titan::nn
