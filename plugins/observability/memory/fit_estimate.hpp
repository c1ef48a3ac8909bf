#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace titan::observability {

/// What an estimate of a run's need goes by. Bytes are of this rank.
struct FitFacts {
  std::uint64_t parameters = 0;  // storage alone, of all of them
  std::uint64_t compute_forms = 0, gradients = 0, optimizer_state = 0, buffers = 0;
  std::uint64_t rest = 0;  // all else that lives
  std::uint64_t asked = 0;
  std::uint64_t live = 0;     // all that lived when it was asked for
  std::uint64_t allowed = 0;  // the limit, or what there was when the system refused
  bool has_limit = false;
  std::int32_t phase = -1;  // TITAN_IN_*
  std::int64_t step = 0;
  /// Share of the blocks of the chain whose activations live, above 0 to 1; 0: not known.
  double share = 0;
  std::uint32_t num_blocks = 0;  // of the chain
  std::int64_t tokens = 0;       // of a micro-batch
  std::int64_t row = 0;          // tokens of a row
  std::uint32_t world_size = 1;
  bool recomputes_all = false;  // activation checkpointing is full already, or there is none to be had
};

/// What would have fitted, in lines for a person: the whole need, and by which single change it would come below what
/// is allowed. An estimate, and it says so.
std::vector<std::string> fit_lines(const FitFacts& facts);

}  // namespace titan::observability
