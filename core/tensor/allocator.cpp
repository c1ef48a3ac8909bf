#include "core/tensor/allocator.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "core/tensor/block_cache.hpp"

namespace titan::tensor {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::uint8_t kPriority = 100;  // above libtorch's default allocator
constexpr std::size_t kSlack = std::size_t{64} << 20;
#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepBlocks = false;  // so that a use after free is found
#else
constexpr bool kKeepBlocks = true;
#endif

/// Stands in front of every block. A block's data pointer is its context too: oneDNN frees its scratch memory by it.
struct alignas(kAlignment) Header {
  std::size_t requested;
  std::size_t capacity;  // of the whole block: header, data and what aligning them takes
  void* block;           // as std::malloc gave it, which is faster than std::aligned_alloc by 40 ns
};
constexpr std::size_t kOverhead = sizeof(Header) + kAlignment;

Header* header_in(void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return reinterpret_cast<Header*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

/// Live bytes and their peaks.
class Counter {
 public:
  void add(std::size_t bytes) {
    const auto now = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    raise(peak_, now);
    raise(highest_, now);
  }
  void subtract(std::size_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }
  void reset_peak() { peak_.store(live(), std::memory_order_relaxed); }
  std::size_t live() const { return live_.load(std::memory_order_relaxed); }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  /// The highest peak since the process began.
  std::size_t highest() const { return highest_.load(std::memory_order_relaxed); }

 private:
  static void raise(std::atomic<std::size_t>& peak, std::size_t to) {
    std::size_t seen = peak.load(std::memory_order_relaxed);
    while (seen < to && !peak.compare_exchange_weak(seen, to, std::memory_order_relaxed)) {
    }
  }
  std::atomic<std::size_t> live_{0}, peak_{0}, highest_{0};
};

// Like libtorch's own allocators these live as long as the process: tensors may be freed by static destructors.
Counter& counter() {
  static Counter instance;
  return instance;
}

BlockCache& cache() {
  static auto* instance = new BlockCache;
  return *instance;
}

/// Bytes that may be kept: what lives and what is kept never exceed the most that lived by more than a quarter.
std::size_t cache_limit() {
  if (!kKeepBlocks) return 0;
  const std::size_t highest = counter().highest(), live = counter().live();
  const std::size_t allowed = highest + highest / 4 + kSlack;
  return allowed > live ? allowed - live : 0;
}

// Without huge-page advice: reused memory gains nothing by it, and the first touch was measured four times dearer.
void* new_block(std::size_t capacity) {
  if (void* kept = cache().take(capacity)) return kept;
  if (cache().bytes() > cache_limit()) cache().clear();
  if (void* fresh = std::malloc(capacity)) return fresh;
  cache().clear();
  return std::malloc(capacity);
}

[[noreturn]] void throw_out_of_memory(std::size_t bytes) {
  c10::profiledCPUMemoryReporter().OutOfMemory(bytes);
  TORCH_CHECK_WITH(OutOfMemoryError, false, "[memory] out of memory: requested ", bytes, " bytes, ", counter().live(),
                   " live, peak ", counter().highest());
}

void free_block(void* data) {
  if (data == nullptr) return;
  c10::profiledCPUMemoryReporter().Delete(data);
  auto* header = static_cast<Header*>(data) - 1;
  counter().subtract(header->requested);
  cache().put(header->block, header->capacity, cache_limit());
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, free_block, at::Device(at::kCPU)};
    constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
    const std::size_t capacity = BlockCache::capacity(std::min(bytes, kMost) + kOverhead);
    void* block = bytes > kMost ? nullptr : new_block(capacity);
    if (block == nullptr) throw_out_of_memory(bytes);
    void* data = new (header_in(block)) Header{bytes, capacity, block} + 1;
    counter().add(bytes);
    c10::profiledCPUMemoryReporter().New(data, bytes);
    return {data, data, free_block, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

}  // namespace

void install_cpu_allocator() {
  static const bool installed = [] {
    c10::SetAllocator(at::kCPU, new CountingAllocator, kPriority);
    return true;
  }();
  (void)installed;
}

std::int64_t live_bytes() { return static_cast<std::int64_t>(counter().live()); }
std::int64_t peak_bytes() { return static_cast<std::int64_t>(counter().peak()); }
void reset_peak() { counter().reset_peak(); }
std::int64_t cached_bytes() { return static_cast<std::int64_t>(cache().bytes()); }
void release_cached_memory() { cache().clear(); }

}  // namespace titan::tensor
