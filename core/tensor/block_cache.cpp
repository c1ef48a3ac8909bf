#include "core/tensor/block_cache.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace titan::tensor {

BlockCache::~BlockCache() { clear(); }

std::size_t BlockCache::capacity(std::size_t bytes) {
  if (bytes < kSmallest) return bytes;
  const std::size_t step = std::bit_floor(bytes) / kStepsPerDoubling;
  return (bytes + step - 1) / step * step;
}

std::size_t BlockCache::class_of(std::size_t capacity) {
  const auto doubling = static_cast<std::size_t>(std::bit_width(capacity) - std::bit_width(kSmallest));
  return doubling * kStepsPerDoubling + capacity / (std::bit_floor(capacity) / kStepsPerDoubling) - kStepsPerDoubling;
}

void* BlockCache::take(std::size_t capacity) {
  if (capacity < kSmallest) return nullptr;
  const std::lock_guard lock(mutex_);
  Kept*& first = kept_[class_of(capacity)];
  if (first == nullptr) return nullptr;
  bytes_.fetch_sub(capacity, std::memory_order_relaxed);
  return std::exchange(first, first->next);
}

void BlockCache::put(void* block, std::size_t capacity, std::size_t limit) noexcept {
  if (capacity < kSmallest || capacity > limit) return std::free(block);
  const std::lock_guard lock(mutex_);
  if (bytes() > limit - capacity) clear_locked();
  Kept*& first = kept_[class_of(capacity)];
  first = new (block) Kept{first};
  bytes_.fetch_add(capacity, std::memory_order_relaxed);
}

void BlockCache::clear() noexcept {
  const std::lock_guard lock(mutex_);
  clear_locked();
}

void BlockCache::clear_locked() noexcept {
  for (Kept*& first : kept_) {
    while (first != nullptr) std::free(std::exchange(first, first->next));
  }
  bytes_.store(0, std::memory_order_relaxed);
}

}  // namespace titan::tensor
