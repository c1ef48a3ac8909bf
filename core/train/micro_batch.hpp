#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/data/loader.hpp"

namespace titan::train {

/// Views of a batch as tensors [rows, length] int64, without a copy: valid while the batch lives and is not changed.
struct MicroBatch {
  at::Tensor tokens;
  at::Tensor labels;
  at::Tensor positions;
};

/// Adds up the labels that are not ignored, and the tokens.
std::int64_t count_valid(const std::vector<data::Batch>& batches);
std::int64_t count_tokens(const std::vector<data::Batch>& batches);

/// Makes the views. InternalError when the arrays do not have rows x length elements.
MicroBatch view(data::Batch& batch);

}  // namespace titan::train
