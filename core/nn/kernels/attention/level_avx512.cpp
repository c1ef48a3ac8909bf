#include "core/nn/kernels/attention/level.hpp"

namespace titan::nn::kernels {

extern const AttentionLevel kAttentionAvx512 = make_level("avx512", [] {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
});

}  // namespace titan::nn::kernels
