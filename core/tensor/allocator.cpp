#include "core/tensor/allocator.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>

#include "core/base/position.hpp"
#include "core/base/quantity.hpp"
#include "core/base/shortage.hpp"
#include "core/base/text.hpp"
#include "core/tensor/block_cache.hpp"
#include "core/tensor/memory_listeners.hpp"

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

/// Live bytes, their peaks and their limit.
class Counter {
 public:
  /// Returns what lives then; nothing where that would pass the limit: then nothing is added.
  std::optional<std::size_t> add(std::size_t bytes) {
    std::size_t before = live();
    do {
      if (limit() != 0 && before + bytes > limit()) return std::nullopt;
    } while (!live_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    return before + bytes;
  }
  /// Returns what lives then.
  std::size_t subtract(std::size_t bytes) { return live_.fetch_sub(bytes, std::memory_order_relaxed) - bytes; }
  void raise_peaks(std::size_t live) {
    raise(peak_, live);
    raise(highest_, live);
  }
  void reset_peak() { peak_.store(live(), std::memory_order_relaxed); }
  void set_limit(std::size_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  std::size_t live() const { return live_.load(std::memory_order_relaxed); }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  /// The highest peak since the process began.
  std::size_t highest() const { return highest_.load(std::memory_order_relaxed); }
  /// 0: none.
  std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }

 private:
  static void raise(std::atomic<std::size_t>& peak, std::size_t to) {
    std::size_t seen = peak.load(std::memory_order_relaxed);
    while (seen < to && !peak.compare_exchange_weak(seen, to, std::memory_order_relaxed)) {
    }
  }
  std::atomic<std::size_t> live_{0}, peak_{0}, highest_{0}, limit_{0};
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

/// Bytes that may be kept: what lives and what is kept never exceed the most that lived by more than a quarter, nor the
/// limit.
std::size_t cache_limit() {
  if (!kKeepBlocks) return 0;
  const std::size_t highest = counter().highest(), live = counter().live(), limit = counter().limit();
  const std::size_t allowed = std::min(highest + highest / 4 + kSlack, limit != 0 ? limit : SIZE_MAX);
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

void tell(std::int32_t action, const void* data, std::size_t bytes, std::size_t live) {
  const titan_memory_event event{action, 0, reinterpret_cast<std::uintptr_t>(data), bytes, live};
  memory_listeners().tell(event);
}

[[noreturn]] void throw_out_of_memory_error(std::size_t bytes) {
  const Position* position = current_position();
  const std::string where = position != nullptr ? position->describe() : "another thread than a rank's";
  const std::size_t limit = counter().limit();
  TORCH_CHECK_WITH(OutOfMemoryError, false, "[memory] out of memory: requested ", bytes, " bytes in ", where, ": live ",
                   bytes_text(counter().live()), ", peak ", bytes_text(counter().highest()),
                   limit != 0 ? concat(", limit ", bytes_text(limit), " (debug.memory_limit_gib)") : std::string());
}

/// What lives is still there to be seen: nothing has been unwound.
void tell_listeners_of_shortage(std::uint64_t bytes) {
  if (!memory_listeners().want(TITAN_MEMORY_OUT_OF_MEMORY)) return;
  tell(TITAN_MEMORY_OUT_OF_MEMORY, nullptr, bytes, counter().live());
}

[[noreturn]] void throw_out_of_memory(std::size_t bytes) {
  cache().clear();
  c10::profiledCPUMemoryReporter().OutOfMemory(bytes);
  tell_of_shortage(bytes);
  throw_out_of_memory_error(bytes);
}

/// For `new` where the system gives nothing: kept blocks first.
void give_back_or_fail() {
  if (cache().bytes() > 0) return cache().clear();
  tell_of_shortage(0);
  throw std::bad_alloc();
}

void free_block(void* data) {
  if (data == nullptr) return;
  c10::profiledCPUMemoryReporter().Delete(data);
  auto* header = static_cast<Header*>(data) - 1;
  const std::size_t bytes = header->requested, live = counter().subtract(bytes);
  // The block is still there: whoever is given its address next is told of later.
  if (memory_listeners().want(TITAN_MEMORY_FREE)) tell(TITAN_MEMORY_FREE, data, bytes, live);
  cache().put(header->block, header->capacity, cache_limit());
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, free_block, at::Device(at::kCPU)};
    constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
    const std::size_t capacity = BlockCache::capacity(std::min(bytes, kMost) + kOverhead);
    if (bytes > kMost) throw_out_of_memory(bytes);
    const std::optional<std::size_t> live = counter().add(bytes);
    if (!live) throw_out_of_memory(bytes);
    void* block = new_block(capacity);
    if (block == nullptr) {
      counter().subtract(bytes);
      throw_out_of_memory(bytes);
    }
    void* data = new (header_in(block)) Header{bytes, capacity, block} + 1;
    counter().raise_peaks(*live);
    if (memory_listeners().want(TITAN_MEMORY_ALLOC)) tell(TITAN_MEMORY_ALLOC, data, bytes, *live);
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
    set_shortage_listener(&tell_listeners_of_shortage);
    std::set_new_handler(&give_back_or_fail);
    return true;
  }();
  (void)installed;
}

std::int64_t live_bytes() { return static_cast<std::int64_t>(counter().live()); }
std::int64_t peak_bytes() { return static_cast<std::int64_t>(counter().peak()); }
void reset_peak() { counter().reset_peak(); }
std::int64_t highest_bytes() { return static_cast<std::int64_t>(counter().highest()); }
void set_memory_limit(std::int64_t bytes) {
  counter().set_limit(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)));
}
std::int64_t memory_limit() { return static_cast<std::int64_t>(counter().limit()); }
std::int64_t cached_bytes() { return static_cast<std::int64_t>(cache().bytes()); }
void release_cached_memory() { cache().clear(); }

}  // namespace titan::tensor
