#include "core/nn/kernels/attention/level.hpp"

namespace titan::nn::kernels {

extern const AttentionLevel kAttentionPortable = make_level("default");

}  // namespace titan::nn::kernels
