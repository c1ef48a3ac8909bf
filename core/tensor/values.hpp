#pragma once

#include <ATen/core/Tensor.h>

namespace titan::tensor {

/// Whether the tensor's elements are there: tensors of a rehearsal have shapes alone (the meta device).
inline bool has_values(const at::Tensor& tensor) { return !tensor.is_meta(); }

/// The value of a tensor with one element; 0 where it has none.
inline double number_in(const at::Tensor& tensor) { return has_values(tensor) ? tensor.item<double>() : 0; }

}  // namespace titan::tensor
