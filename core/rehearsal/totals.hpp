#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"

namespace titan::rehearsal {

/// Calls of one kind in one kind of group, of one step.
struct CallTotal {
  std::string op;     // PyTorch's name: "all_reduce", "send"
  std::string group;  // the name it was called under: "fsdp"
  std::string axes;   // of the mesh along which the group extends: "dp_shard+cp"; "self": one rank
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // the larger of input and output of each call, added up
  double sent_bytes = 0;   // that the rank puts on its links, by the ring formulas of estimate()
};

/// What one rank does in a step.
struct RankTotal {
  std::int64_t rank = 0;
  std::int64_t num_ranks = 1;  // it stands for, itself among them
  double flops = 0;
  std::vector<CallTotal> calls;  // by axes, group and op
};

/// What a step is, of a rank and of the layout.
struct Totals {
  std::vector<RankTotal> ranks;  // in the order of the report
  double flops = 0;              // of all represented ranks
  std::vector<CallTotal> calls;  // the same, added up over ranks
};

/// Adds up FLOPs and calls of the last step of a rehearsal.
Totals totals(const RehearsalReport& report, const config::Mesh& mesh);

}  // namespace titan::rehearsal
