#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "plugins/observability/memory/event_ring.hpp"
#include "plugins/observability/memory/place_table.hpp"
#include "plugins/observability/memory/stack_table.hpp"

namespace titan::observability {

/// A block of a tensor that lives, and where it was made.
struct LiveBlock {
  std::uint64_t bytes;
  std::uint32_t place;
  std::int32_t step;
  std::uint32_t stack;
};

/// Follows the blocks of all tensors of the process: those that live, completely, and the newest events. [any thread]
class Recorder {
 public:
  /// Gives the calling thread's stack.
  using Unwind = StackTable::Stack (*)();

  /// Keeps that many events; `unwind` null: no stacks. std::bad_alloc.
  explicit Recorder(std::size_t max_entries, Unwind unwind = nullptr);

  void alloc(std::uint64_t address, std::uint64_t bytes, const Where& where) noexcept;
  /// A block that was made before the recorder is passed over.
  void free(std::uint64_t address, const Where& where) noexcept;
  /// `rest`: bytes that could have been had.
  void out_of_memory(std::uint64_t bytes, std::uint64_t rest, const Where& where) noexcept;

  /// What is known at one moment: valid during inspect().
  struct View {
    const EventRing& events;
    const std::unordered_map<std::uint64_t, LiveBlock>& live;  // by address
    const PlaceTable& places;
    const StackTable& stacks;
    std::uint64_t live_bytes, peak_bytes, lost_blocks;
  };
  /// Who makes or frees tensors meanwhile waits.
  void inspect(const std::function<void(const View&)>& look) const;

 private:
  // Under the lock.
  LiveBlock block_of(std::uint64_t bytes, const Where& where, StackTable::Stack stack);
  /// Another block lives where one did whose free was lost.
  void replace(std::uint64_t address, LiveBlock& old, const LiveBlock& block);
  void push(std::int32_t action, std::uint64_t address, const LiveBlock& block);
  StackTable::Stack stack_here() const;
  std::int64_t now_us() const;

  const Unwind unwind_;
  const std::int64_t epoch_offset_us_;
  mutable std::mutex mutex_;
  EventRing events_;
  std::unordered_map<std::uint64_t, LiveBlock> live_;
  PlaceTable places_;
  StackTable stacks_;
  std::uint64_t live_bytes_ = 0, peak_bytes_ = 0;
  std::atomic<std::uint64_t> lost_blocks_{0};  // whose begin or end there was no memory to note
};

}  // namespace titan::observability
