#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "core/plugin/host_table.hpp"
#include "tests/support/declare.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::strategy {

inline const void* engine_interface(titan_string id) {
  const std::string_view name = sdk::view(id);
  if (name == TITAN_TREE_V1) return nn::tree_interface();
  if (name == TITAN_COLLECTIVE_V1) return comm::collective_interface();
  return nullptr;
}

inline sdk::MeshHandle handle_of(const plugin::HostTable& host, comm::Communicator& ranks) {
  return {sdk::Host(host.get()), reinterpret_cast<titan_mesh*>(&ranks)};
}

/// A host's tree: "layers.0" and "layers.1", linear with weights [2, 2] of ones, and "norm.inner".
class StrategyTest : public ::testing::Test {
 protected:
  StrategyTest() {
    for (const char* name : {"layers.0", "layers.1", "norm.inner"}) {
      modules_.push_back(owner_.add_leaf(TITAN_MODULE_ROOT, name, "titan.linear", {}));
      owner_.add_parameter(modules_.back(), testing::declare("weight", shape_, 1.0));
    }
    owner_.add_to_chain(modules_[0], 0);
    owner_.add_to_chain(modules_[1], 0);
  }
  void materialise() { owner_.materialise({at::kDouble, at::kDouble, at::kDouble}, at::kCPU, 0); }
  sdk::TreeHandle handle(std::int32_t priority = 10) {
    return {sdk::Host(host_.get()), reinterpret_cast<titan_tree*>(&owner_), priority};
  }

  const std::vector<std::int64_t> shape_{2, 2};
  const plugin::HostTable host_{plugin::HostServices{nullptr, engine_interface, 0, 1}};
  nn::Tree owner_;
  std::vector<nn::ModuleId> modules_;
  Tree tree_{handle()};
};

}  // namespace titan::strategy
