#include "core/train/micro_batch.hpp"

#include <ATen/ops/from_blob.h>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

at::Tensor view(std::vector<std::int64_t>& values, const data::Batch& batch) {
  TITAN_CHECK(static_cast<std::int64_t>(values.size()) == batch.rows * batch.length,
              "a batch of another size: ", values.size(), " for ", batch.rows, " x ", batch.length);
  return at::from_blob(values.data(), {batch.rows, batch.length}, at::kLong);
}

}  // namespace

std::int64_t count_valid(const std::vector<data::Batch>& batches) {
  std::int64_t valid = 0;
  for (const data::Batch& batch : batches) valid += batch.num_valid;
  return valid;
}

std::int64_t count_tokens(const std::vector<data::Batch>& batches) {
  std::int64_t tokens = 0;
  for (const data::Batch& batch : batches) tokens += batch.rows * batch.length;
  return tokens;
}

MicroBatch view(data::Batch& batch) {
  return {view(batch.tokens, batch), view(batch.labels, batch), view(batch.positions, batch)};
}

}  // namespace titan::train
