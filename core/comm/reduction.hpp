#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/comm/group.hpp"

namespace c10d {
struct ReduceOp;
}  // namespace c10d

namespace titan::comm {

/// c10d's number of a reduction as ours. PluginError for those we do not have.
Reduce reduce_of(const c10d::ReduceOp& op);

/// Reduces tensors of one shape and dtype element by element, from the first to the last. bfloat16 and float16 are
/// accumulated in float32, and the result is left in it.
at::Tensor reduced(const std::vector<at::Tensor>& parts, Reduce op);

}  // namespace titan::comm
