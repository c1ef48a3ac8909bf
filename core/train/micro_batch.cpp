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

MicroBatch view(data::Batch& batch) {
  return {view(batch.tokens, batch), view(batch.labels, batch), view(batch.positions, batch)};
}

}  // namespace titan::train
