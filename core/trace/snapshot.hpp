#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files.hpp"
#include "core/pickle/texts.hpp"

/// Memory snapshots as PyTorch has them: what an allocator did, and what is alive at the end.
namespace titan::trace {

enum class Action : std::uint8_t { alloc, free_requested, free_completed, segment_alloc, segment_free, oom, other };

/// One thing that an allocator did.
struct MemoryEvent {
  std::uint64_t address = 0;  // of oom: the bytes that the device had left
  std::int64_t size = 0;      // bytes asked for
  std::int64_t time_us = 0;
  std::uint32_t stack = 0;
  Action action = Action::other;
};

/// A frame of a stack; texts by their numbers.
struct StackFrame {
  std::uint32_t name = pickle::Texts::kNone, file = pickle::Texts::kNone;
  std::int64_t line = 0;

  bool operator==(const StackFrame&) const = default;
};

/// A block that is alive at the end.
struct LiveBlock {
  std::uint64_t address = 0;
  std::int64_t size = 0;  // bytes asked for, as far as they are known
  std::uint32_t stack = 0;
  std::uint32_t kind = pickle::Texts::kNone, name = pickle::Texts::kNone;  // what titan says about it
};

/// What titan adds to a snapshot; -1 where a number is not told.
struct SnapshotFacts {
  std::int64_t rank = -1, step = -1, live_bytes = -1, peak_bytes = -1, dropped_events = 0, oldest_kept_us = -1,
               limit_bytes = -1;
  std::string phase;
};

/// What one device holds and did.
struct DeviceMemory {
  std::int64_t reserved = 0;  // bytes of its segments
  std::vector<LiveBlock> blocks;
  std::span<const MemoryEvent> events;
};

/// Stacks with numbers; 0 is the empty one.
class Stacks {
 public:
  Stacks() : ends_{0, 0} {}
  /// Adds a stack, the innermost frame first.
  std::uint32_t add(std::span<const std::uint32_t> frames);
  std::uint32_t add_frame(const StackFrame& frame);
  std::span<const std::uint32_t> operator[](std::uint32_t stack) const;
  const StackFrame& frame(std::uint32_t number) const { return frames_[number]; }
  std::size_t size() const { return ends_.size() - 1; }

 private:
  std::vector<StackFrame> frames_;
  std::vector<std::uint32_t> items_;
  std::vector<std::size_t> ends_;  // stack i lies in items_ from ends_[i] to ends_[i + 1]
};

struct Snapshot {
  pickle::Texts texts;
  Stacks stacks;
  std::vector<MemoryEvent> events;
  std::vector<DeviceMemory> devices;
  std::optional<SnapshotFacts> facts;  // nothing: not written by titan

  /// The text of that number; empty for none.
  std::string_view text(std::uint32_t number) const;
};

/// Reads a snapshot as a stream: 2 million events in a few seconds. DataError names the file: no pickle of plain
/// values, no snapshot, sizes that no memory has. InputError when there is none.
Snapshot read_snapshot(const std::filesystem::path& path);
/// The same of bytes in memory; `source` names them.
Snapshot read_snapshot(std::string_view bytes, const std::string& source);

}  // namespace titan::trace
