#pragma once

#include <ATen/core/Tensor.h>

namespace titan::tensor {

// Matrix products where libtorch's choice does not use all that the processor has. This room takes the place of its CPU
// kernels of aten::mm, aten::mm.out and aten::addmm_, so that linear, its gradients, experts and plugins' operators all
// profit, and autograd, profilers and recomputation see what they always saw.
//
//   fast   large fp32 products on oneDNN: AVX-512 that is not Intel's, where MKL keeps to AVX2
//   wide   bf16 products in fp32: Intel's processors whose bf16 instruction is slower than fp32's, without AMX

/// Whether this process has them. Decided at the first call, and proven by a product whose operands need all bits of
/// fp32; false where TITAN_DISABLE_KERNELS names `linear`. [any thread]
bool has_fast_products();

/// Whether a times b is one: two real fp32 matrices, each with rows or columns that are contiguous, and enough work to
/// pay for the call.
bool is_fast_product(const at::Tensor& a, const at::Tensor& b);

/// Whether products may run on anything but libtorch's own: not where TITAN_DISABLE_KERNELS names `linear`, nor during
/// a comparison. [any thread]
bool uses_own_products();

/// Whether this process multiplies bf16 matrices in fp32; false where TITAN_DISABLE_KERNELS names `linear`. [any
/// thread]
bool has_wide_products();

/// Whether a times b is one: as above, of bf16.
bool is_wide_product(const at::Tensor& a, const at::Tensor& b);

/// Makes sure that this room is linked in.
void use_fast_products();

/// For its lifetime libtorch's own products and its own linear run, in the whole process: for comparisons.
class WithoutFastProducts {
 public:
  WithoutFastProducts();
  ~WithoutFastProducts();
  WithoutFastProducts(const WithoutFastProducts&) = delete;
  WithoutFastProducts& operator=(const WithoutFastProducts&) = delete;
};

}  // namespace titan::tensor
