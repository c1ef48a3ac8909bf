#include "core/nn/kernels/attention/level.hpp"

namespace titan::nn::kernels {

extern const AttentionLevel kAttentionAvx512Bf16 = make_level("avx512_bf16");

}  // namespace titan::nn::kernels
