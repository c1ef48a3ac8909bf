#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/train/guards.hpp"
#include "core/train/ranks/ranks.hpp"

namespace titan::train {

/// What a rank knows before it runs a step or a batch; agreed: the same of all ranks together.
struct Outlook {
  std::int64_t num_tokens = 0;
  std::int64_t num_valid = 0;           // labels that are not ignored
  std::int64_t ranks_without_data = 0;  // of a single rank: 0 or 1
  int stop_signal = 0;                  // that asks for the end of the run; 0: none
};

/// Sums over all ranks (null: there is one); data that several ranks read counts once. Of several signals the one with
/// the smallest number counts.
Outlook agree(const Ranks* ranks, const Outlook& mine);

/// What a rank measured in a step; agreed: the same of all ranks together.
struct Outcome {
  double loss_sum = 0;      // of the valid labels
  double norm_squares = 0;  // of the gradients that this rank counts
  std::int64_t num_valid = 0;
};

/// Sums over all ranks (null: there is one); a loss that several ranks have counts once.
Outcome agree(const Ranks* ranks, const Outcome& mine);

/// The gravest judgement of all ranks (null: there is one): the code of the first rank that made it, and the texts of
/// all that did, each after its rank where there are several. Texts may be empty.
Judgement agree(const Ranks* ranks, const Judgement& mine);

/// Names the ranks for which `concerned` holds: "rank 1", "ranks 0, 3". A collective call.
std::string concerned_ranks(const Ranks& ranks, bool concerned);

/// Lists ranks: "rank 1", "ranks 0, 3".
std::string list_ranks(const std::vector<std::int64_t>& ranks);

}  // namespace titan::train
