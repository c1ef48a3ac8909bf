#include <c10/util/Logging.h>

#include <cstdlib>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "core/comm/cuda/cuda_library.hpp"
#include "core/comm/cuda/device_backend.hpp"
#include "core/comm/processes/host_backend.hpp"
#include "core/comm/processes/rendezvous.hpp"

namespace titan::comm {
namespace {

/// libtorch writes each lost connection to standard error, with a stack; our own errors say it, and who it was.
void quiet_libtorch() {
  constexpr int kErrors = 2;
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = kErrors;
}

}  // namespace

std::unique_ptr<Communicator> connect(config::Mesh mesh, const RankEnvironment& environment,
                                      std::chrono::milliseconds init_timeout, at::Device device,
                                      CpuBackend cpu_backend) {
  TITAN_CHECK(mesh.world_size() == environment.world_size,
              "[comm] the mesh has other ranks than the environment: ", mesh.world_size(), ", WORLD_SIZE ",
              environment.world_size);
  std::shared_ptr<Transport> transport;
  if (environment.world_size > 1) {
    quiet_libtorch();
    MakeBackend make_backend = host_backend(cpu_backend);
    if (device.is_cuda()) {
      cuda_library();
      make_backend = [index = device.index()](const BackendParts& parts) { return make_nccl_backend(parts, index); };
    }
    StoreLink link = open_store(environment, init_timeout);
    join_ranks(link, environment, init_timeout);
    transport = std::make_shared<ProcessTransport>(std::move(link), environment.rank, environment.world_size,
                                                   std::move(make_backend));
  }
  auto communicator = std::make_unique<Communicator>(std::move(mesh), environment.rank, std::move(transport));
  communicator->set_timeout(init_timeout);
  return communicator;
}

}  // namespace titan::comm
