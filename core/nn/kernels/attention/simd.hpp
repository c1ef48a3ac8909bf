#pragma once

// The vector layer: all that the attention kernels know of an instruction set. Each level (level_*.cpp) is a
// translation unit of its own with its compiler flags; everything here is private to it, so that the linker can never
// take a function of one level for another.
#include <cstdint>

#define TITAN_SIMD [[maybe_unused]] static inline __attribute__((always_inline))
#define TITAN_SIMD_LAMBDA __attribute__((always_inline))
#if defined(__clang__)
#define TITAN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TITAN_UNROLL _Pragma("GCC unroll 32")
#endif

namespace titan::nn::kernels {
namespace {

// 2^f on [0, 1): minimax polynomials, from the highest degree down.
constexpr float kExp2[] = {1.8775767e-3F, 8.9893397e-3F, 5.5826318e-2F,
                           2.4015361e-1F, 6.9315308e-1F, 9.9999994e-1F};                       // to 1.5e-7
constexpr float kCoarseExp2[] = {7.9028178e-2F, 2.2412601e-1F, 6.9671061e-1F, 9.9989252e-1F};  // to 1.3e-4

}  // namespace
}  // namespace titan::nn::kernels

#if defined(__AVX512F__)
#include "core/nn/kernels/attention/simd_avx512.hpp"
#elif defined(__AVX2__)
#include "core/nn/kernels/attention/simd_avx2.hpp"
#else
#include "core/nn/kernels/attention/simd_portable.hpp"
#endif

namespace titan::nn::kernels {
namespace {

TITAN_SIMD float widen(float value) { return value; }
/// bf16 is the upper half of an fp32.
TITAN_SIMD float widen(std::uint16_t value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value) << 16);
}

TITAN_SIMD void narrow_to(float& out, float value) { out = value; }
/// Rounds to nearest, ties to even; NaN stays NaN.
TITAN_SIMD void narrow_to(std::uint16_t& out, float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  out = static_cast<std::uint16_t>(value != value ? 0x7fc0U : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

TITAN_SIMD std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
TITAN_SIMD std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

}  // namespace
}  // namespace titan::nn::kernels
