#pragma once

#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "core/plugin/host_table.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::parallel {

/// One rank's tree and ranks as a strategy sees them. Both outlive it.
class RankViews {
 public:
  RankViews(nn::Tree& tree, comm::Communicator& communicator)
      : host_(plugin::HostServices{nullptr, engine_interface, 0, 1}), tree_(tree), communicator_(communicator) {}

  strategy::Tree tree() const {
    return strategy::Tree(sdk::TreeHandle{sdk::Host(host_.get()), reinterpret_cast<titan_tree*>(&tree_), 0});
  }
  strategy::Mesh mesh() const {
    return strategy::Mesh(sdk::MeshHandle{sdk::Host(host_.get()), reinterpret_cast<titan_mesh*>(&communicator_)});
  }

 private:
  static const void* engine_interface(titan_string id) {
    const std::string_view name(id.data, id.size);
    if (name == TITAN_TREE_V1) return nn::tree_interface();
    if (name == TITAN_COLLECTIVE_V1) return comm::collective_interface();
    return nullptr;
  }

  plugin::HostTable host_;
  nn::Tree& tree_;
  comm::Communicator& communicator_;
};

}  // namespace titan::parallel
