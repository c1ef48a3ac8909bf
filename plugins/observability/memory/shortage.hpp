#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugins/observability/memory/block_kinds.hpp"
#include "plugins/observability/memory/recorder.hpp"

namespace titan::observability {

/// A live block as the report lists it.
struct ListedBlock {
  std::uint64_t bytes = 0;
  BlockKind kind = BlockKind::other;
  std::string name;  // of a tensor that is kept from step to step, else the module; may be empty
  std::string made;  // "aten::mm, step 1, forward"; empty: not known
};

/// What lives when memory is out.
struct LiveSet {
  std::map<BlockKind, std::uint64_t> bytes;  // by kind
  std::vector<ListedBlock> largest;          // first the largest
  std::uint64_t num_blocks = 0;              // 0: not counted
  /// Bytes that nobody keeps from step to step and whose places were not recorded.
  std::uint64_t unknown = 0;

  std::uint64_t of(BlockKind kind) const;
};

/// Tells the blocks of a recorder apart; lists the `most` largest.
LiveSet live_set(const Recorder::View& view, const StateBlocks& state, std::size_t most);
/// The same where nothing was recorded: what the run keeps is told apart, the rest of `live` bytes is not.
LiveSet live_set(std::uint64_t live, const StateBlocks& state, std::size_t most);

/// Memory was asked for and is not there.
struct Shortage {
  std::uint32_t rank = 0;
  std::uint64_t asked = 0;  // bytes; 0: not known, it is no tensor
  std::string op, node, module;
  std::int32_t phase = -1;  // TITAN_IN_*
  std::int64_t step = 0;
  std::uint64_t live = 0, peak = 0, limit = 0;  // limit 0: none, the system refused
  bool is_recorded = false;
};

/// "1.5 MiB", "612 B".
std::string bytes_text(std::uint64_t bytes);
/// The report, line by line: what was asked for, the counters, sums by kind, and the largest blocks. What would fit is
/// FitEstimate's.
std::vector<std::string> report_lines(const Shortage& shortage, const LiveSet& live);

}  // namespace titan::observability
