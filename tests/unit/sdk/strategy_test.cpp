#include "titan/sdk/strategy.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::sdk {
namespace {

/// Writes what it is called for into the log; refuses two replicas.
class Whole {
 public:
  static constexpr std::int32_t kPriority = 7;
  explicit Whole(Host host) : host_(host) {}
  void validate(const titan_mesh_facts& mesh, const titan_model_facts& model) {
    if (mesh.dp_replicate == 2) throw ConfigError("two replicas: ", mesh.dp_replicate);
    host_.info("whole", concat("validate ", mesh.world_size, " ", model.num_layers));
  }
  void apply(TreeHandle tree, MeshHandle mesh) {
    host_.info("whole", concat("apply ", tree.priority, " ", tree.tree == nullptr, " ", mesh.mesh == nullptr));
  }
  void materialised() { host_.info("whole", "materialised"); }
  void micro_batch_begin(const titan_micro_batch& one) { host_.info("whole", concat("begin ", one.index)); }
  void micro_batch_end(const titan_micro_batch& one) { host_.info("whole", concat("end ", one.is_last)); }
  void updated() { host_.info("whole", "updated"); }
  void discard() { host_.info("whole", "discard"); }

 private:
  Host host_;
};

/// Hears of updates alone.
struct Counter {
  void updated() {}
};

/// Places parameters and has no more to do.
class Small {
 public:
  static constexpr std::int32_t kPriority = -1;
  explicit Small(Host) {}
  void apply(const TreeHandle&, const MeshHandle&) {}
};

class SdkStrategy : public ::testing::Test {
 protected:
  template <class Plugin>
  static const titan_strategy_v1& table() {
    return *static_cast<const titan_strategy_v1*>(StrategyInterface<Plugin>::table());
  }

  test::FakeHost host_;
  titan_mesh_facts mesh_{sizeof(titan_mesh_facts), 4, 1, 1, 4, 1, 1, 1};
  titan_model_facts model_{};
  titan_micro_batch last_{sizeof(titan_micro_batch), 3, 1, 1, 0};
};

TEST_F(SdkStrategy, CallsReachTheClass) {
  Instance<Whole> instance{Host(host_.table())};
  const auto& calls = table<Whole>();
  model_.num_layers = 6;
  EXPECT_EQ(calls.struct_size, sizeof(titan_strategy_v1));
  EXPECT_EQ(calls.priority, 7);
  EXPECT_EQ(calls.validate(&instance, &mesh_, &model_), nullptr);
  EXPECT_EQ(calls.apply(&instance, nullptr, nullptr), nullptr);
  EXPECT_EQ(calls.materialised(&instance), nullptr);
  EXPECT_EQ(calls.micro_batch_begin(&instance, &last_), nullptr);
  EXPECT_EQ(calls.micro_batch_end(&instance, &last_), nullptr);
  EXPECT_EQ(calls.updated(&instance), nullptr);
  EXPECT_EQ(calls.discard(&instance), nullptr);
  const std::vector<std::string> expected{"validate 4 6", "apply 7 true true", "materialised", "begin 3",
                                          "end 1",        "updated",           "discard"};
  ASSERT_EQ(host_.log().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NE(host_.log()[i].find(expected[i]), std::string::npos) << host_.log()[i];
  }
}

TEST_F(SdkStrategy, WhatIsThrownBecomesAnError) {
  Instance<Whole> instance{Host(host_.table())};
  mesh_.dp_replicate = 2;
  EXPECT_EQ(host_.take(table<Whole>().validate(&instance, &mesh_, &model_)), "78: two replicas: 2");
  EXPECT_EQ(host_.live_errors(), 0);
}

TEST_F(SdkStrategy, WhatTheClassLeavesOutDoesNothing) {
  Instance<Small> instance{Host(host_.table())};
  const auto& calls = table<Small>();
  EXPECT_EQ(calls.priority, -1);
  EXPECT_EQ(calls.validate(&instance, &mesh_, &model_), nullptr);
  EXPECT_EQ(calls.apply(&instance, nullptr, nullptr), nullptr);
  EXPECT_EQ(calls.materialised(&instance), nullptr);
  EXPECT_EQ(calls.micro_batch_begin(&instance, &last_), nullptr);
  EXPECT_EQ(calls.micro_batch_end(&instance, &last_), nullptr);
  EXPECT_EQ(calls.updated(&instance), nullptr);
  EXPECT_EQ(calls.discard(&instance), nullptr);
}

TEST_F(SdkStrategy, OneThatHearsOfUpdatesMustKnowHowToForgetAStep) {
  EXPECT_TRUE(ForgetsSteps<Whole>);
  EXPECT_TRUE(ForgetsSteps<Small>);
  EXPECT_FALSE(ForgetsSteps<Counter>) << "its interface does not compile";
}

}  // namespace
}  // namespace titan::sdk
