#pragma once

#include <immintrin.h>

namespace titan::nn::kernels {
namespace {

using Vec = __m256;
constexpr std::int64_t kWidth = 8;

TITAN_SIMD Vec load(const float* from) { return _mm256_loadu_ps(from); }
TITAN_SIMD void store(float* to, Vec a) { _mm256_storeu_ps(to, a); }
TITAN_SIMD Vec splat(float value) { return _mm256_set1_ps(value); }
TITAN_SIMD Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
TITAN_SIMD Vec sub(Vec a, Vec b) { return _mm256_sub_ps(a, b); }
TITAN_SIMD Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
TITAN_SIMD Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
/// a * b + c, a * b - c
TITAN_SIMD Vec mul_add(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
TITAN_SIMD Vec mul_sub(Vec a, Vec b, Vec c) { return _mm256_fmsub_ps(a, b, c); }
/// Where a < b `then`, elsewhere `other`.
TITAN_SIMD Vec where_less(Vec a, Vec b, Vec then, Vec other) {
  return _mm256_blendv_ps(other, then, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}

/// 2^x; below 2^-126 it stays there.
TITAN_SIMD Vec exp2(Vec x) {
  // The second operand of max is what comes out where one is NaN.
  const Vec clamped = max(splat(-126.0F), x), whole = _mm256_floor_ps(clamped), fraction = sub(clamped, whole);
  Vec sum = splat(kExp2[0]);
  TITAN_UNROLL
  for (int i = 1; i < 6; ++i) sum = mul_add(sum, fraction, splat(kExp2[i]));
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(sum), exponent));
}

}  // namespace
}  // namespace titan::nn::kernels
