#include "core/train/ranks/ranks.hpp"

#include "core/base/error.hpp"
#include "titan/abi/observer.h"

namespace titan::train {
namespace {

comm::CpuBackend cpu_backend(const config::Config& config) {
  const std::string name = config.string("comm.cpu_backend");
  if (name == "gloo") return comm::CpuBackend::gloo;
  return name == "shm" ? comm::CpuBackend::shm : comm::CpuBackend::automatic;
}

}  // namespace

using config::Axis;

Ranks::Ranks(const EngineRun& run, std::chrono::milliseconds init_timeout) : communicator_(run.communicator) {
  if (communicator_ == nullptr) {
    if (run.mesh.world_size() == 1) {
      world_ = std::make_unique<comm::ThreadWorld>(run.mesh);
      owned_ = world_->join(0);
    } else {
      owned_ = comm::connect(run.mesh, run.ranks, init_timeout, at::kCPU, cpu_backend(*run.config));
    }
    communicator_ = owned_.get();
  }
  communicator_->set_timeout(init_timeout);
}

void Ranks::leave() {
  if (has_parted()) return;
  communicator_->world().barrier();
  part();
}

void Ranks::fail(std::string_view reason) noexcept {
  if (has_parted()) return communicator_->report_trouble(TITAN_DUMP_ERROR, reason);
  communicator_->abort(reason);
}

bool counts_data(const config::Mesh& mesh, std::int64_t rank) {
  return counts_loss(mesh, rank) && mesh.coordinate(rank, Axis::cp) == 0 && mesh.coordinate(rank, Axis::pp) == 0;
}

bool counts_loss(const config::Mesh& mesh, std::int64_t rank) { return mesh.coordinate(rank, Axis::tp) == 0; }

std::int64_t data_rank(const config::Mesh& mesh, std::int64_t rank) {
  return mesh.coordinate(rank, Axis::dp_replicate) * mesh.degree(Axis::dp_shard) +
         mesh.coordinate(rank, Axis::dp_shard);
}

std::int64_t data_degree(const config::Mesh& mesh) {
  return mesh.degree(Axis::dp_replicate) * mesh.degree(Axis::dp_shard);
}

}  // namespace titan::train
