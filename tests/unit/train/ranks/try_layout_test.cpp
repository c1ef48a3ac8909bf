#include "core/train/ranks/try_layout.hpp"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/base/abi_error.hpp"
#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_model.hpp"

namespace titan::train {
namespace {

using ::testing::HasSubstr;

/// A strategy that does nothing but what it is told when it is applied.
using Apply = std::function<void(nn::Tree& tree, comm::Communicator& ranks)>;

const titan_strategy_v1& strategy_table() {
  static const titan_strategy_v1 table = [] {
    titan_strategy_v1 made{};
    made.struct_size = sizeof made;
    made.apply = [](void* ctx, titan_tree* tree, titan_mesh* mesh) {
      return abi_guard([&] {
        (*static_cast<Apply*>(ctx))(*reinterpret_cast<nn::Tree*>(tree), *reinterpret_cast<comm::Communicator*>(mesh));
      });
    };
    return made;
  }();
  return table;
}

/// Tries rank 1 of 2; what refuses it, or an empty text.
std::string refusal(Apply apply, const config::Mesh& mesh = config::Mesh({1, 1, 2, 1, 1}, 2)) {
  tiny::TinyModel model;
  EngineRun run;
  run.host = tiny::error_host();
  run.model = model.plugin();
  run.strategies = {{"strategy", &apply, &strategy_table()}};
  run.mesh = mesh;
  run.ranks.rank = 1;
  run.ranks.world_size = 2;
  try {
    try_layout(run, {});
    return {};
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(TryLayout, PlacesTheModelOnTheRankThatItStandsFor) {
  std::int64_t rank = -1, parts = 0;
  bool has_tensors = true;
  const std::string refused = refusal([&](nn::Tree& tree, comm::Communicator& ranks) {
    rank = ranks.group("fsdp").rank();
    parts = ranks.group("fsdp").size();
    has_tensors = tree.parameters().front()->storage.defined();
  });
  EXPECT_EQ(refused, "");
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(parts, 2);
  EXPECT_FALSE(has_tensors);
}

TEST(TryLayout, WhatStrategiesRefuseRefusesIt) {
  EXPECT_THAT(refusal([](nn::Tree&, comm::Communicator&) { throw ConfigError("features: 33 = 16 x 2 + 1"); }),
              HasSubstr("33 = 16 x 2 + 1"));
}

TEST(TryLayout, APipelineNeedsASchedule) {
  EXPECT_THAT(refusal([](nn::Tree&, comm::Communicator&) {}, config::Mesh({2, 1, 1, 1, 1}, 2)),
              HasSubstr("a pipeline needs a plugin with a schedule"));
}

TEST(TryLayout, EndsWhereAStrategyAsksOtherRanks) {
  bool returned = false;
  const std::string refused = refusal([&](nn::Tree&, comm::Communicator& ranks) {
    ranks.world().all_reduce(at::ones({1}))->wait();
    returned = true;
  });
  EXPECT_EQ(refused, "");
  EXPECT_FALSE(returned);
}

}  // namespace
}  // namespace titan::train
