#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/table.hpp"

namespace titan::schedule {

/// How long things take, in units; transfers take none.
struct Costs {
  std::int64_t forward = 1, backward = 1;
};

/// A forward or backward and when it runs.
struct Slot {
  std::int64_t begin = 0, end = 0;
  titan_action action{};
};

/// When everything of a table happens, when all stages are equally large.
struct Timeline {
  std::vector<std::vector<Slot>> ranks;  // in order of time
  std::int64_t length = 0;               // until the last rank is done
  double bubble_share = 0;               // of the ranks' time, what they wait
  /// For each rank the most stage inputs at a time that wait for their backward (a micro-batch counts once a stage).
  std::vector<std::int64_t> peak_live;
};

/// Works out the timeline of a sound table.
Timeline simulate_time(const Table& table, const Costs& costs = {});

}  // namespace titan::schedule
