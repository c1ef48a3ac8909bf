#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "titan/torch/group.hpp"

namespace titan::observability {

/// Where in a step's computation a tensor stood: earlier places are smaller. Ranks of one layout run the same program,
/// so that places of different ranks compare.
struct ComputationPlace {
  enum Kind : std::int64_t { before_the_step, in_a_module, after_reduction, nowhere };

  std::int64_t kind = nowhere;
  std::int64_t micro_batch = 0;
  std::int64_t is_backward = 0;
  std::int64_t stage = 0;   // counted from where the micro-batch begins: backward begins at the last one
  std::int64_t number = 0;  // of the tensors that the rank has looked at in the step

  bool operator==(const ComputationPlace&) const = default;
  auto operator<=>(const ComputationPlace&) const = default;
};

/// What one rank has found first: nothing where its place is nowhere.
struct Sighting {
  ComputationPlace place;
  std::string text;
  std::vector<std::string> details = {};  // more lines on it
};

/// What the ranks of a group found, compared: the same on all of them.
struct AgreedSighting {
  ComputationPlace place;
  std::int64_t rank = 0;                 // in the group: whose it is; the first one where several found it at one place
  std::vector<std::int64_t> same_place;  // other ranks that found it there
  std::vector<std::int64_t> later;       // other ranks that found something downstream
};

/// Compares what each rank found, and says which is upstream. A collective call of the group.
AgreedSighting agree(const strategy::Group& ranks, const Sighting& mine);

/// "rank 1", "ranks 0, 3".
std::string list_ranks(const std::vector<std::int64_t>& ranks);

}  // namespace titan::observability
