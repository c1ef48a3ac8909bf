#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "core/base/text.hpp"
#include "core/comm/cuda/cuda_library.hpp"
#include "core/comm/cuda/device_backend.hpp"
#include "core/comm/timed_work.hpp"

namespace titan::comm {
namespace {

// Looked for without CUDA: its library is not opened where there is no GPU.
bool has_gpu(int number) {
  struct stat found {};
  return ::stat(concat("/dev/nvidia", number).c_str(), &found) == 0;
}

TEST(Nccl, SumsOnAGpu) {
  if (!has_gpu(0)) GTEST_SKIP() << "no GPU";
  NcclParts parts;
  parts.store = c10::make_intrusive<c10d::HashStore>();
  parts.name = "alone";
  const auto works = std::make_shared<PendingWorks>(0);
  const auto backend = make_device_backend(cuda_library().make_nccl(parts), nullptr, works);
  WorkRecord record;
  record.timeout_ms = 60000;
  works->announce(record);
  std::vector<at::Tensor> tensors{at::ones({4}, at::TensorOptions(at::Device(at::kCUDA, 0)))};
  const auto work = c10::static_intrusive_pointer_cast<TimedWork>(backend->allreduce(tensors, {}));
  EXPECT_TRUE(work->join(TimedWork::Clock::now()));
  EXPECT_EQ(tensors[0].sum().item<float>(), 4.0F);
  EXPECT_TRUE(work->wait_until(TimedWork::Clock::now() + std::chrono::seconds(60)));
  EXPECT_EQ(work->failure(), "");
}

}  // namespace
}  // namespace titan::comm
