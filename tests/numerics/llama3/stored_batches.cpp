#include "tests/numerics/llama3/stored_batches.hpp"

#include <algorithm>

namespace titan::testing {
namespace {

std::vector<std::int64_t> values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  const auto* first = flat.const_data_ptr<std::int64_t>();
  return {first, first + flat.numel()};
}

}  // namespace

StoredBatches::StoredBatches(at::Tensor tokens, at::Tensor labels)
    : tokens_(std::move(tokens)), labels_(std::move(labels)) {}

std::optional<data::Batch> StoredBatches::next() {
  if (next_ == tokens_.size(0)) return std::nullopt;
  data::Batch batch;
  batch.rows = tokens_.size(1);
  batch.length = tokens_.size(2);
  batch.tokens = values(tokens_[next_]);
  batch.labels = values(labels_[next_]);
  for (std::int64_t i = 0; i < batch.rows * batch.length; ++i) batch.positions.push_back(i % batch.length);
  batch.num_valid = std::ranges::count_if(batch.labels, [](std::int64_t label) { return label != -100; });
  ++next_;
  return batch;
}

}  // namespace titan::testing
