#include "plugins/observability/kept_state.hpp"

#include <algorithm>

#include "titan/torch/tensor.hpp"

namespace titan::observability {
namespace {

struct Visit {
  const std::vector<std::int32_t>& kinds;
  std::vector<KeptTensor> found;
};

}  // namespace

std::vector<KeptTensor> kept_state(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds) {
  const auto* control = handles.host.require<titan_control_v1>(TITAN_CONTROL_V1);
  Visit visit{kinds, {}};
  handles.host.check(control->visit_state(
      handles.control, &visit, [](void* ctx, std::int32_t kind, titan_string name, titan_tensor tensor) {
        auto& [wanted, found] = *static_cast<Visit*>(ctx);
        if (std::find(wanted.begin(), wanted.end(), kind) == wanted.end()) return;
        found.push_back({kind, std::string(sdk::view(name)), handle::borrow(tensor)});
      }));
  return std::move(visit.found);
}

}  // namespace titan::observability
