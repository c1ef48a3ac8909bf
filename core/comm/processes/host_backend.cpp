#include "core/comm/processes/host_backend.hpp"

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/comm/description.hpp"
#include "core/comm/gloo/gloo_backend.hpp"
#include "core/comm/shm/meeting.hpp"
#include "core/comm/shm/shm_backend.hpp"

namespace titan::comm {
namespace {

c10::intrusive_ptr<ProcessBackend> make_fitting_backend(const BackendParts& parts, bool must_share) {
  shm::Agreement agreed = shm::meet(parts);
  if (agreed.segment != nullptr) return make_shm_backend(parts, std::move(agreed.segment));
  const std::string what =
      concat(named_ranks(parts.facts.members), ", channel ", parts.facts.name, ": ", printable(agreed.problem));
  if (must_share) {
    throw ConfigError("[comm] comm.cpu_backend shm needs ranks that can share memory, on one machine: ", what);
  }
  if (parts.facts.position == 0) log_info("comm", "gloo connects ranks that cannot share memory: ", what);
  return make_gloo_backend(parts);
}

}  // namespace

MakeBackend host_backend(CpuBackend choice) {
  if (choice == CpuBackend::gloo) {
    return [](const BackendParts& parts) {
      shm::decline(parts);
      return make_gloo_backend(parts);
    };
  }
  return [must_share = choice == CpuBackend::shm](const BackendParts& parts) {
    return make_fitting_backend(parts, must_share);
  };
}

}  // namespace titan::comm
