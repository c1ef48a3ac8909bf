#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace titan::nn::kernels {

/// Rotates adjacent pairs of features of `tokens` tokens, each `heads` heads of 2 * `pairs` features. `table` holds
/// (cos, sin) of each position and pair; `direction` is 1, or -1 to rotate back.
void rotate(const float* x, float* out, const std::int64_t* positions, const float* table, std::int64_t tokens,
            std::int64_t heads, std::int64_t pairs, float direction);
void rotate(const c10::BFloat16* x, c10::BFloat16* out, const std::int64_t* positions, const float* table,
            std::int64_t tokens, std::int64_t heads, std::int64_t pairs, float direction);

}  // namespace titan::nn::kernels
