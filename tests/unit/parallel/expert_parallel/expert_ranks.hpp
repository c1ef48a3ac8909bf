#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "core/plugin/host_table.hpp"
#include "plugins/parallel/expert_parallel/strategy.hpp"
#include "tests/support/declare.hpp"

namespace titan::parallel {

inline constexpr std::int64_t kExperts = 4, kDim = 8, kHidden = 12;

/// One rank's tree with experts alone, spread over the ranks of the communicator's mesh; float64.
class ExpertRank {
 public:
  explicit ExpertRank(comm::Communicator& communicator) : communicator_(communicator) {
    leaf_ = tree_.add_leaf(TITAN_MODULE_ROOT, "experts", "titan.grouped_experts", {});
    add("w1", {kExperts, kHidden, kDim});
    add("w2", {kExperts, kDim, kHidden});
    add("w3", {kExperts, kHidden, kDim});
    tree_.set_mesh(communicator.mesh());
    kExpertParallel.apply(host(), strategy::Tree(sdk::TreeHandle{host(), reinterpret_cast<titan_tree*>(&tree_), 200}),
                          mesh(), applied_);
    tree_.materialise({at::kDouble, at::kDouble, at::kDouble}, at::kCPU, 3);
  }

  nn::Tree& tree() { return tree_; }
  const Applied& applied() const { return applied_; }
  strategy::Mesh mesh() {
    return strategy::Mesh(sdk::MeshHandle{host(), reinterpret_cast<titan_mesh*>(&communicator_)});
  }
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& counts) {
    return tree_.call(leaf_, {x, counts}).front();
  }

 private:
  static const void* engine_interface(titan_string id) {
    const std::string_view name(id.data, id.size);
    if (name == TITAN_TREE_V1) return nn::tree_interface();
    return name == TITAN_COLLECTIVE_V1 ? static_cast<const void*>(comm::collective_interface()) : nullptr;
  }
  sdk::Host host() const { return sdk::Host(host_.get()); }
  void add(std::string_view name, const std::vector<std::int64_t>& shape) {
    titan_parameter declaration = titan::testing::declare(name, shape);
    declaration.init = TITAN_INIT_NORMAL;
    declaration.std = 0.5;
    tree_.add_parameter(leaf_, declaration);
  }

  comm::Communicator& communicator_;
  plugin::HostTable host_{plugin::HostServices{nullptr, &engine_interface, 0, 1}};
  nn::Tree tree_;
  nn::ModuleId leaf_ = 0;
  Applied applied_;
};

}  // namespace titan::parallel
