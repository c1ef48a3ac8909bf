#pragma once

#include <ATen/core/Tensor.h>

namespace titan::nn {

/// x [M, in], rows sorted by expert; weight [E, out, in]; counts [E] int64 of rows, which may be 0 -> [M, out]: rows of
/// expert e times the transposed weight e. Differentiable in x and weight; one call of libtorch where it takes device,
/// dtype and sizes, one product an expert with rows elsewhere.
at::Tensor grouped_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& counts);

/// Tells whether libtorch's grouped product takes matrices with rows of these sizes.
bool has_grouped_product(const at::Tensor& x, const at::Tensor& weight);

}  // namespace titan::nn
