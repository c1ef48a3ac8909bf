#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/mesh.hpp"
#include "core/config/rehearsal.hpp"

namespace titan::rehearsal {

/// A call that two ranks of a group do not make together.
struct Mismatch {
  /// Which part differs: the operation, the sizes, the dtype, or one of them makes no such call any more.
  enum class What { op, sizes, dtype, missing };

  /// One of the two.
  struct Side {
    std::int64_t rank = -1;
    std::string module;  // empty: no module's, or no call
    std::string call;    // "all_reduce of Float [4]"; empty: this one makes no such call
  };

  What what = What::op;
  std::string channel;       // the name it has on who stands for the first side
  std::uint64_t number = 0;  // of the call in the channel, from 1; of sends and receives: between the two ranks
  Side first, second;
  /// All of it in one line: both ranks, their modules and calls.
  std::string text;
};

/// What came out of holding the ranks against each other.
struct Matching {
  std::vector<Mismatch> mismatches;       // the first of each two kinds of ranks that meet in a kind of channel
  std::uint64_t num_calls = 0;            // calls of all ranks of the layout that were compared
  std::vector<std::string> not_compared;  // what could not be, a line each: ranks that nobody stands for

  bool agrees() const { return mismatches.empty(); }
};

/// Holds the calls of all ranks of a layout against each other: in every channel every member makes the same
/// collectives in the same order, with the same operation, sizes and dtype (of an all-to-all the operation, the dtype
/// and the sizes of a row), and the sends of any two ranks meet receives of the same sizes and dtype in the same order.
/// A represented rank does what its representative does, in its own channels. Kinds of ranks that meet are compared
/// once, however many ranks they stand for. Reductions are not known.
Matching match(const RehearsalReport& report, const config::Mesh& mesh);

}  // namespace titan::rehearsal
