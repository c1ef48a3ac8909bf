#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/rehearsal.hpp"

namespace titan::rehearsal {

/// Whether a rank's memory suffices.
struct RankFit {
  std::int64_t rank = 0;
  std::int64_t num_ranks = 1;  // it stands for, itself among them
  std::int64_t peak_bytes = 0;
  std::int64_t headroom_bytes = 0;  // limit - peak; below 0: that much is missing
  bool fits() const { return headroom_bytes >= 0; }
};

struct Fit {
  std::int64_t limit_bytes = 0;
  std::vector<RankFit> ranks;  // in the order of the report
  std::size_t worst = 0;       // index of the one with the largest peak
  std::int64_t num_unfit = 0;  // ranks of the layout whose memory does not suffice
  bool fits() const { return num_unfit == 0; }
  std::string text;  // the verdict in one line, with peak, limit, place and what is missing or left
};

/// Holds the peaks of all ranks against the memory of a GPU, in bytes. Live bytes: what an allocator loses by
/// fragmentation, a CUDA context and NCCL's own buffers come on top.
Fit fit(const RehearsalReport& report, std::int64_t limit_bytes);

}  // namespace titan::rehearsal
