#include "core/nn/kernels/attention/level.hpp"

namespace titan::nn::kernels {

extern const AttentionLevel kAttentionAvx512Bf16 = make_level(
    "avx512_bf16", [] { return kAttentionAvx512.is_supported() && __builtin_cpu_supports("avx512bf16") != 0; });

}  // namespace titan::nn::kernels
