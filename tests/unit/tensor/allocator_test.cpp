#include "core/tensor/allocator.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/tensor/guard.hpp"
#include "tests/support/error_text.hpp"

namespace titan::tensor {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

at::Tensor bytes(std::int64_t count) { return at::empty({count}, at::kByte); }

class CpuAllocator : public ::testing::Test {
 protected:
  void SetUp() override { install_cpu_allocator(); }
};

TEST_F(CpuAllocator, CountsWhatLivesAndThePeak) {
  const std::int64_t before = live_bytes();
  reset_peak();
  {
    const at::Tensor kept = bytes(100);
    EXPECT_EQ(live_bytes(), before + 100);
    bytes(3 * kMiB);
    EXPECT_EQ(live_bytes(), before + 100);
  }
  EXPECT_EQ(live_bytes(), before);
  EXPECT_EQ(peak_bytes(), before + 100 + 3 * kMiB);
  reset_peak();
  EXPECT_EQ(peak_bytes(), before);
}

TEST_F(CpuAllocator, BlocksAreAligned) {
  std::vector<at::Tensor> tensors;
  for (const std::int64_t size : {1L, 65L, 4097L, 100000L, 5 * kMiB}) {
    tensors.push_back(bytes(size));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensors.back().data_ptr()) % 64, 0U) << size;
  }
}

TEST_F(CpuAllocator, RawInterfaceWorks) {
  c10::Allocator* allocator = c10::GetAllocator(at::kCPU);
  ASSERT_NE(allocator->raw_deleter(), nullptr);
  const std::int64_t before = live_bytes();
  void* block = allocator->raw_allocate(1000);
  EXPECT_EQ(live_bytes(), before + 1000);
  allocator->raw_deallocate(block);
  EXPECT_EQ(live_bytes(), before);
  const c10::DataPtr pointer = allocator->allocate(10);
  EXPECT_EQ(pointer.get(), pointer.get_context());
  EXPECT_EQ(allocator->allocate(0).get(), nullptr);
}

TEST_F(CpuAllocator, LargeBlocksAreUsedAgainAndCanBeReleased) {
  if (kSanitized) GTEST_SKIP() << "address sanitizer builds keep no blocks";
  const void* first = bytes(4 * kMiB).data_ptr();
  EXPECT_GE(cached_bytes(), 4 * kMiB);
  {
    const at::Tensor again = bytes(4 * kMiB - 5);
    EXPECT_EQ(again.data_ptr(), first);
  }
  release_cached_memory();
  EXPECT_EQ(cached_bytes(), 0);
}

TEST_F(CpuAllocator, KeptMemoryIsBounded) {
  for (std::int64_t size = kMiB; size < 200 * kMiB; size += size / 4) bytes(size);
  EXPECT_LE(cached_bytes(), 5 * 200 * kMiB / 4 + 64 * kMiB);
}

TEST_F(CpuAllocator, OutOfMemoryNamesTheRequestAndIsAResourceError) {
  if (kSanitized) GTEST_SKIP() << "sanitizers end the process at a request this large";
  titan_error* error = guarded([] { bytes(std::int64_t{1} << 61); });
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, TITAN_ERROR_RESOURCE);
  EXPECT_THAT(testing::error_text(error), ::testing::HasSubstr("requested 2305843009213693952 bytes"));
}

TEST_F(CpuAllocator, ThreadsMayAllocateAtOnce) {
  const std::int64_t before = live_bytes();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (std::int64_t i = 1; i < 500; ++i) bytes(i * 1000).fill_(i % 100);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(live_bytes(), before);
}

}  // namespace
}  // namespace titan::tensor
