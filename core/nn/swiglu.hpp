#pragma once

#include <ATen/core/Tensor.h>

namespace titan::nn {

/// silu(gate) * up, of one shape. Differentiable; in one pass where there is a kernel.
at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

}  // namespace titan::nn
