#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"
#include "core/schedule/simulation.hpp"

namespace titan::rehearsal {

/// A rank that waits for ever.
struct StuckRank {
  std::int64_t rank = -1;
  std::string module;                   // of the call it waits for
  std::string call;                     // "_allgather_base of Float [8] number 3 of dp_shard/pp0"
  std::vector<std::int64_t> waits_for;  // members that do not come to it, increasing
};

/// A state that no rank gets out of.
struct Deadlock {
  schedule::SendRule rule = schedule::SendRule::buffered;  // under which it happens
  /// Each waits for the next one. A cycle: the last waits for the first.
  std::vector<StuckRank> chain;
  bool is_cycle = false;       // false: the last one waits for a rank that has ended
  std::int64_t num_stuck = 0;  // ranks of the layout that do not come to their end
  std::string text;            // some lines: who waits for whom, where
};

/// Lets all ranks run and says where they wait for each other for ever, if they do. A wait of a collective ends when
/// all members have started it. Under `buffered` a send is done at once; under `rendezvous` when its receive has been
/// started, and the sends and receives between two ranks are done in their order, as NCCL does them, which has one
/// stream for two ranks. Ranks that nobody stands for are never late.
std::optional<Deadlock> find_deadlock(const RehearsalReport& report, const config::Mesh& mesh, schedule::SendRule rule);

}  // namespace titan::rehearsal
