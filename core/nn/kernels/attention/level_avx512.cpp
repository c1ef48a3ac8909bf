#include "core/nn/kernels/attention/level.hpp"

namespace titan::nn::kernels {

extern const AttentionLevel kAttentionAvx512 = make_level("avx512");

}  // namespace titan::nn::kernels
