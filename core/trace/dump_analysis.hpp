#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/trace/dump.hpp"

namespace titan::trace {

/// A group of ranks over all dumps: one name and the same ranks.
struct Group : DumpGroup {
  std::set<std::string> titles;      // under which it was called: "fsdp", "world"
  std::int64_t first = 0, last = 0;  // sequence numbers of its collectives that some dump has; 0: none
  std::size_t num_calls = 0;         // over all ranks
};

enum class Problem {
  mismatch,      // ranks call different things
  not_reached,   // some ranks call it, and others never did
  not_complete,  // all that can be seen called it, and it is not over
};

/// One call of a group where something is wrong.
struct Finding {
  Problem problem = Problem::not_reached;
  std::size_t group = 0;
  bool is_p2p = false;
  std::int64_t sequence = 0, source = -1, target = -1;  // global ranks of a send and receive
  std::string op, title;                                // of the first call: "all_reduce", "fsdp"
  std::string difference;                               // of a mismatch: "operations", "groups", "shapes or dtypes"
  std::vector<const Call*> calls;                       // of those that made it
  std::vector<std::int64_t> callers;                    // their ranks
  std::vector<std::int64_t> waiting;                    // callers for whom it is not over
  std::vector<std::int64_t> late;                       // members whose dumps do not have it
  std::vector<const Call*> before;                      // the last call in the group of each that is late; null: none
  std::vector<std::int64_t> without_dump;
  std::int64_t created_ns = 0;  // of the first call
};

/// What a rank did last, as far as its dump says.
struct RankState {
  std::int64_t rank = 0;
  const Dump* dump = nullptr;  // null: none
  const Call* last = nullptr;  // the newest call; null: none
  const Call* open = nullptr;  // the oldest call that is not over; null: none
};

struct Analysis {
  std::int64_t world_size = 0;
  std::vector<RankState> ranks;  // of the whole run
  std::vector<std::int64_t> without_dump;
  std::vector<Group> groups;
  std::vector<Finding> findings;    // the cause first, the others by time
  std::vector<std::int64_t> chain;  // ranks of which each waits for the next, the last in the first finding
  bool is_circle = false;
  bool has_open = false;        // some rank has a call that is not over
  std::size_t num_matched = 0;  // collectives that all members made and finished
  std::size_t num_partial = 0;  // collectives that are complete, but not in the dumps of all: dropped, or not reached
  /// Ranks whose dumps end long before those of others begin, and those others.
  std::vector<std::int64_t> before, after;

  /// Whether nothing is wrong, and nothing open.
  bool is_consistent() const { return findings.empty() && !has_open; }
};

/// Compares the calls of all ranks. Points into `dumps`, which must outlive it.
Analysis analyse(const Dumps& dumps);

}  // namespace titan::trace
