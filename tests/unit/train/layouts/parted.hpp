#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/train/layouts/whole_tensors.hpp"

namespace titan::train {

/// A tensor whose rows are cut into equal parts, one a rank.
PartedTensor sharded(const at::Tensor& whole, std::int64_t num_ranks);

/// A tensor of which every rank holds a whole one.
PartedTensor replicated(const std::vector<at::Tensor>& replicas);

}  // namespace titan::train
