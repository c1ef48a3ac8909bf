#include "core/tensor/memory_listeners.hpp"

#include <algorithm>
#include <mutex>

#include "core/base/error.hpp"
#include "core/base/shortage.hpp"

namespace titan::tensor {

void MemoryListeners::add(const titan_memory_listener* listener) {
  if (listener == nullptr || listener->struct_size < sizeof *listener || listener->event == nullptr) {
    throw PluginError("[memory] a listener needs its whole struct and a function");
  }
  const ShortageSilence silence;
  const std::unique_lock lock(mutex_);
  if (std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end()) {
    throw PluginError("[memory] a listener listens already");
  }
  listeners_.push_back(listener);
  count_wanted();
}

void MemoryListeners::remove(const titan_memory_listener* listener) noexcept {
  const std::unique_lock lock(mutex_);
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), listener), listeners_.end());
  count_wanted();
}

void MemoryListeners::count_wanted() noexcept {
  std::uint32_t bits = 0;
  for (const titan_memory_listener* listener : listeners_) bits |= listener->actions;
  wanted_.store(bits, std::memory_order_relaxed);
}

void MemoryListeners::tell(const titan_memory_event& event) const noexcept {
  const ShortageSilence silence;
  const std::shared_lock lock(mutex_);
  for (const titan_memory_listener* listener : listeners_) {
    if ((listener->actions & static_cast<std::uint32_t>(event.action)) != 0) listener->event(listener->ctx, &event);
  }
}

MemoryListeners& memory_listeners() {
  // As long as the process: tensors may be freed by static destructors.
  static auto* instance = new MemoryListeners;
  return *instance;
}

}  // namespace titan::tensor
