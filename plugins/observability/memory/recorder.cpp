#include "plugins/observability/memory/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "plugins/observability/memory/quiet_lock.hpp"
#include "titan/abi/memory.h"

namespace titan::observability {
namespace {

template <class Clock>
std::int64_t microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

Recorder::Recorder(std::size_t max_entries, Unwind unwind)
    : unwind_(unwind),
      epoch_offset_us_(microseconds<std::chrono::system_clock>() - microseconds<std::chrono::steady_clock>()),
      events_(max_entries) {}

// Never goes back, as the date may.
std::int64_t Recorder::now_us() const { return epoch_offset_us_ + microseconds<std::chrono::steady_clock>(); }

StackTable::Stack Recorder::stack_here() const { return unwind_ != nullptr ? unwind_() : StackTable::Stack(); }

LiveBlock Recorder::block_of(std::uint64_t bytes, const Where& where, StackTable::Stack stack) {
  return {bytes, places_.number(where), static_cast<std::int32_t>(where.step), stacks_.number(std::move(stack))};
}

void Recorder::push(std::int32_t action, std::uint64_t address, const LiveBlock& block) {
  events_.push({now_us(), address, block.bytes, block.place, block.step, block.stack, action});
}

void Recorder::alloc(std::uint64_t address, std::uint64_t bytes, const Where& where) noexcept {
  try {
    StackTable::Stack stack = stack_here();
    const QuietLock lock(mutex_);
    const LiveBlock block = block_of(bytes, where, std::move(stack));
    const auto [entry, is_new] = live_.try_emplace(address, block);
    if (!is_new) replace(address, entry->second, block);
    live_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    push(TITAN_MEMORY_ALLOC, address, block);
  } catch (const std::exception&) {
    ++lost_blocks_;
  }
}

void Recorder::replace(std::uint64_t address, LiveBlock& old, const LiveBlock& block) {
  live_bytes_ -= old.bytes;
  push(TITAN_MEMORY_FREE, address, {old.bytes, block.place, block.step, StackTable::kNone});
  old = block;
}

void Recorder::free(std::uint64_t address, const Where& where) noexcept {
  try {
    StackTable::Stack stack = stack_here();
    const QuietLock lock(mutex_);
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    // First what may fail: a block that is not alive must have its event.
    const LiveBlock block = block_of(found->second.bytes, where, std::move(stack));
    live_.erase(found);
    live_bytes_ -= block.bytes;
    push(TITAN_MEMORY_FREE, address, block);
  } catch (const std::exception&) {
    ++lost_blocks_;  // it counts as alive
  }
}

void Recorder::out_of_memory(std::uint64_t bytes, std::uint64_t rest, const Where& where) noexcept {
  if (QuietLock::is_held()) return;
  try {
    const QuietLock lock(mutex_);
    push(TITAN_MEMORY_OUT_OF_MEMORY, rest, block_of(bytes, where, {}));
  } catch (const std::exception&) {
    // The report says it all the same.
  }
}

void Recorder::inspect(const std::function<void(const View&)>& look) const {
  const QuietLock lock(mutex_);
  look(View{events_, live_, places_, stacks_, live_bytes_, peak_bytes_, lost_blocks_.load()});
}

}  // namespace titan::observability
