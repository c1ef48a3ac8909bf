#pragma once

#include <algorithm>
#include <cstdint>

namespace titan::parallel {

/// A run of indices of one dim.
struct Rows {
  std::int64_t first, count;
};

/// The rows that position `rank` of `num_ranks` gets, as torch.chunk cuts them: all chunks have ceil(rows / num_ranks)
/// rows but the last ones, which may be smaller or empty.
inline Rows chunk(std::int64_t rows, std::int64_t num_ranks, std::int64_t rank) {
  const std::int64_t most = (rows + num_ranks - 1) / num_ranks;
  const std::int64_t first = std::min(rank * most, rows);
  return {first, std::min(most, rows - first)};
}

}  // namespace titan::parallel
