#include "tests/unit/parallel/context_parallel/rank_mesh.hpp"

#include <string_view>

#include "core/nn/flash_attention.hpp"
#include "core/plugin/host_table.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::parallel {
namespace {

const void* engine_interface(titan_string id) {
  return std::string_view(id.data, id.size) == TITAN_COLLECTIVE_V1 ? comm::collective_interface() : nullptr;
}

}  // namespace

void run_context_ranks(std::int64_t num_ranks, const std::function<void(strategy::Mesh)>& body) {
  nn::register_flash_attention();
  const plugin::HostTable host(plugin::HostServices{nullptr, engine_interface, 0, 1});
  titan::testing::run_rank_threads(
      config::Mesh({1, 1, 1, num_ranks, 1}, num_ranks), [&](comm::Communicator& communicator) {
        body(strategy::Mesh(sdk::MeshHandle{sdk::Host(host.get()), reinterpret_cast<titan_mesh*>(&communicator)}));
      });
}

}  // namespace titan::parallel
