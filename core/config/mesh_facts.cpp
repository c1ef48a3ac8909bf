#include "core/config/mesh_facts.hpp"

namespace titan::config {

titan_mesh_facts mesh_facts(const Mesh& mesh) {
  const auto degree = [&mesh](Axis axis) { return static_cast<std::uint32_t>(mesh.degree(axis)); };
  titan_mesh_facts facts{};
  facts.struct_size = sizeof facts;
  facts.world_size = static_cast<std::uint32_t>(mesh.world_size());
  facts.pp = degree(Axis::pp);
  facts.dp_replicate = degree(Axis::dp_replicate);
  facts.dp_shard = degree(Axis::dp_shard);
  facts.cp = degree(Axis::cp);
  facts.tp = degree(Axis::tp);
  facts.ep = static_cast<std::uint32_t>(mesh.expert_degree());
  return facts;
}

}  // namespace titan::config
