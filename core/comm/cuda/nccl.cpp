#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "core/comm/cuda/cuda_library.hpp"
#include "core/config/engine.hpp"

namespace titan::comm {
namespace {

// Deadlines are ours: they name the ranks that are missing.
constexpr auto kNoDeadline = std::chrono::hours(24 * 30);

c10::intrusive_ptr<c10d::Backend> make_nccl(const NcclParts& parts) {
  // Left alone, NCCL's watchdog ends the process at the first lost peer, before anybody can say which one it was.
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", 0);
  ::setenv("TORCH_NCCL_RETHROW_CUDA_ERRORS", "0", 0);
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = kNoDeadline;
  options->group_name = parts.name;
  auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(parts.store, parts.position, parts.size, options);
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(parts.device));
  group->setBoundDeviceId(device);
  return group;
}

}  // namespace
}  // namespace titan::comm

extern "C" __attribute__((visibility("default"))) const titan::comm::CudaLibrary* titan_cuda_query_v1() {
  static const titan::comm::CudaLibrary library = {sizeof(titan::comm::CudaLibrary), titan::kBuildId,
                                                   titan::comm::make_nccl};
  return &library;
}
