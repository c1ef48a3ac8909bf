#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <mutex>

namespace titan::tensor {

/// Keeps freed large blocks for the next request of their size class: a page from the system costs more to touch for
/// the first time than an elementwise operator spends on it. Thread-safe.
class BlockCache {
 public:
  /// Blocks below this many bytes are left to malloc: it keeps them itself, where it gives larger ones back to the
  /// system again and again.
  static constexpr std::size_t kSmallest = std::size_t{4} << 10;

  BlockCache() = default;
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// Bytes that a request of `bytes` occupies: itself below kSmallest, else rounded up to its size class, by an eighth
  /// at most.
  static std::size_t capacity(std::size_t bytes);

  /// A kept block of exactly that capacity, or null.
  void* take(std::size_t capacity);
  /// Keeps a block that came from std::malloc. When more than `limit` bytes would be kept then, frees all that
  /// is kept first: sizes of another phase of the run make room so.
  void put(void* block, std::size_t capacity, std::size_t limit) noexcept;
  /// Frees everything kept.
  void clear() noexcept;

  /// Bytes kept.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kStepsPerDoubling = 8;
  static constexpr std::size_t kNumClasses = (65 - std::bit_width(kSmallest)) * kStepsPerDoubling;
  struct Kept {
    Kept* next;
  };
  static std::size_t class_of(std::size_t capacity);
  void clear_locked() noexcept;

  std::mutex mutex_;
  std::array<Kept*, kNumClasses> kept_{};  // lists that run through the blocks themselves
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace titan::tensor
