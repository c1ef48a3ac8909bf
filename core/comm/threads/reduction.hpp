#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/comm/group.hpp"

namespace titan::comm {

/// Reduces tensors of one shape and dtype element by element, from the first to the last. bfloat16 and float16 are
/// accumulated in float32, and the result is left in it.
at::Tensor reduced(const std::vector<at::Tensor>& parts, Reduce op);

}  // namespace titan::comm
