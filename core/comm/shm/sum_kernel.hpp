#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>

namespace titan::comm::shm {

/// out[i] = in[0][i] + in[1][i] + ... of `num_parts` arrays of n elements, two at least, added in this order;
/// bfloat16 and float16 in float32, rounded once. `out` may be one of the parts.
void sum_parts(float* out, const float* const* in, std::int64_t num_parts, std::int64_t n);
void sum_parts(double* out, const double* const* in, std::int64_t num_parts, std::int64_t n);
void sum_parts(std::int64_t* out, const std::int64_t* const* in, std::int64_t num_parts, std::int64_t n);
void sum_parts(std::int32_t* out, const std::int32_t* const* in, std::int64_t num_parts, std::int64_t n);
void sum_parts(c10::BFloat16* out, const c10::BFloat16* const* in, std::int64_t num_parts, std::int64_t n);
void sum_parts(c10::Half* out, const c10::Half* const* in, std::int64_t num_parts, std::int64_t n);

}  // namespace titan::comm::shm
