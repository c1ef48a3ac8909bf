#pragma once

#include <ATen/core/Tensor.h>

namespace titan::tensor {

/// out [m][n] = a [m][k] b [k][n], or += where it adds; bf16 on the CPU, a and b with dense rows or columns, out dense.
/// Multiplies in fp32 and rounds once. Blocks of the operands are widened into buffers that the thread keeps:
///
///            k0    k1                 n0    n1          for each block of C: for k0, k1, ...
///        +-----+-----+            k0 +-----+-----+        C (fp32) += A (fp32) * B (fp32)      fp32 product of
///        libtorch
///    A   |     |     | m0       B    |     |     |      out = C, rounded
///        +-----+-----+            k1 +-----+-----+
///
/// 2048 x 512 of A, 512 x 1024 of B and 2048 x 1024 of C are at most there at a time: 14 MiB.
void multiply_wide(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, bool adds);

}  // namespace titan::tensor
