#pragma once

#include <ATen/core/Tensor.h>

namespace titan::tensor {

// Large fp32 products on oneDNN, on processors where libtorch's choice, MKL, does not use all there is: x86 with
// AVX-512 that is not Intel's. This room takes the place of libtorch's CPU kernels of aten::mm, aten::mm.out and
// aten::addmm_, so that linear, its gradients, experts and plugins' operators all profit, and autograd, profilers and
// recomputation see what they always saw.

/// Whether this process has them. Decided at the first call, and proven by a product whose operands need all bits of
/// fp32; false where TITAN_DISABLE_KERNELS names `linear`. [any thread]
bool has_fast_products();

/// Whether a times b is one: two real fp32 matrices, each with rows or columns that are contiguous, and enough work to
/// pay for the call.
bool is_fast_product(const at::Tensor& a, const at::Tensor& b);

/// Makes sure that this room is linked in.
void use_fast_products();

/// For its lifetime libtorch's own kernels run, in the whole process: for comparisons.
class WithoutFastProducts {
 public:
  WithoutFastProducts();
  ~WithoutFastProducts();
  WithoutFastProducts(const WithoutFastProducts&) = delete;
  WithoutFastProducts& operator=(const WithoutFastProducts&) = delete;
};

}  // namespace titan::tensor
