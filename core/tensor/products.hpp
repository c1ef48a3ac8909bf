#pragma once

#include <ATen/core/Tensor.h>

namespace titan::tensor {

/// Tells whether products in fp32 go to oneDNN where that pays: on x86 processors with AVX-512 that are not Intel's, on
/// which MKL, libtorch's choice, keeps to AVX2. Decided at the first call, and proven there by a product whose operands
/// need all bits of fp32; false where TITAN_DISABLE_KERNELS names `linear`. [any thread]
bool has_fast_products();

/// Tells whether a times b goes there: two real fp32 matrices, each with rows or columns that are contiguous, and
/// enough work to pay for the call.
bool is_fast_product(const at::Tensor& a, const at::Tensor& b);

/// a [m, k] times b [k, n] -> [m, n], as at::mm: fp32 to fp32's precision either way. For the same number of threads
/// the same bits. Not differentiable.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);
/// Writes it into `out` [m, n].
void product_out(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);
/// Adds it to `out` [m, n].
void add_product(at::Tensor& out, const at::Tensor& a, const at::Tensor& b);

}  // namespace titan::tensor
