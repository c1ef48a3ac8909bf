#pragma once

namespace titan::tensor {

// What the processor has, for kernels that choose between instruction sets. All false where it is no x86. [any thread]

bool has_avx2();    // with fused multiplication and addition
bool has_avx512();  // F, BW, DQ and VL
bool has_avx512_bf16();
bool has_amx();
bool is_intels();

/// Whether adding products of bf16 pairs (vdpbf16ps) is slower than doing it in fp32: on Intel's processors from
/// Sapphire Rapids on, which have AMX for that, it takes as long as four fp32 multiplications and does the work of two
/// (measured on model 207, whose AMX a virtual machine may hide).
bool has_slow_bf16_pairs();

}  // namespace titan::tensor
