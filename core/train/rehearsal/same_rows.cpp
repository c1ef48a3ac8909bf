#include "core/train/rehearsal/same_rows.hpp"

#include <numeric>

namespace titan::train {

std::optional<data::Batch> SameRows::next() {
  const auto count = static_cast<std::size_t>(sizes_.rows * sizes_.length);
  data::Batch batch;
  batch.rows = sizes_.rows;
  batch.length = sizes_.length;
  batch.num_valid = sizes_.rows * sizes_.length;
  batch.tokens.resize(count);
  batch.labels.resize(count);
  batch.positions.resize(count);
  for (auto row = batch.positions.begin(); row != batch.positions.end(); row += sizes_.length) {
    std::iota(row, row + sizes_.length, 0);
  }
  return batch;
}

}  // namespace titan::train
