#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "plugins/observability/memory/block_kinds.hpp"
#include "plugins/observability/memory/frame_writer.hpp"
#include "plugins/observability/memory/recorder.hpp"

namespace titan::observability {

/// What a snapshot says beside blocks and events.
struct SnapshotFacts {
  std::uint32_t rank = 0;
  std::int64_t step = 0;
  std::int32_t phase = 0;       // TITAN_IN_*
  std::uint64_t limit = 0;      // bytes; 0: none
  std::uint64_t allocated = 0;  // bytes that live as the allocator counts them, in this moment
  std::size_t max_entries = 0;  // of the trace
  Symbolize symbolize = nullptr;
};

/// Folder of a step's snapshots: "step_000000000003", "step_000000000003_exit".
std::string snapshot_folder(std::int64_t step, bool is_exit);

/// Writes a snapshot as PyTorch's memory_viz reads it, and "titan" beside it: see docs/debugging.md. std::system_error
/// with the path in its text; then there is no file.
void write_snapshot(const std::filesystem::path& path, const Recorder::View& view, const StateBlocks& state,
                    const SnapshotFacts& facts);

}  // namespace titan::observability
