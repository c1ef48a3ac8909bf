#pragma once

namespace titan::benchmark {

/// Floating-point operations a second that libtorch's threads reach together when all operands stay in registers: fused
/// multiplications of fp32, or of pairs of bf16 summed in fp32 where the processor is faster with them. Takes some 20
/// to 80 ms. 0 on a processor without AVX2.
double peak_flops(bool is_bfloat16);

}  // namespace titan::benchmark
