#pragma once

#include <atomic>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "titan/abi/memory.h"

namespace titan::tensor {

/// Who is told what the allocator does. [any thread]
class MemoryListeners {
 public:
  /// Keeps the pointer. PluginError for a listener without a function, and for one that listens already.
  void add(const titan_memory_listener* listener);
  /// Returns when nothing is being told to it any more.
  void remove(const titan_memory_listener* listener) noexcept;

  /// Whether anybody wants to be told of TITAN_MEMORY_* bits: one relaxed load.
  bool want(std::uint32_t actions) const { return (wanted_.load(std::memory_order_relaxed) & actions) != 0; }
  void tell(const titan_memory_event& event) const noexcept;

 private:
  void count_wanted() noexcept;

  std::atomic<std::uint32_t> wanted_{0};
  mutable std::shared_mutex mutex_;
  std::vector<const titan_memory_listener*> listeners_;
};

/// Those of the process.
MemoryListeners& memory_listeners();

}  // namespace titan::tensor
