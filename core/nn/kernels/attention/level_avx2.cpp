#include "core/nn/kernels/attention/level.hpp"

namespace titan::nn::kernels {

extern const AttentionLevel kAttentionAvx2 = make_level("avx2");

}  // namespace titan::nn::kernels
