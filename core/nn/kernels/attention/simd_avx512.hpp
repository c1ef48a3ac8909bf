#pragma once

#include <immintrin.h>

namespace titan::nn::kernels {
namespace {

using Vec = __m512;
constexpr std::int64_t kWidth = 16;

TITAN_SIMD Vec load(const float* from) { return _mm512_loadu_ps(from); }
TITAN_SIMD void store(float* to, Vec a) { _mm512_storeu_ps(to, a); }
TITAN_SIMD Vec splat(float value) { return _mm512_set1_ps(value); }
TITAN_SIMD Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
TITAN_SIMD Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
TITAN_SIMD Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
TITAN_SIMD Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
/// a * b + c, a * b - c
TITAN_SIMD Vec mul_add(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
TITAN_SIMD Vec mul_sub(Vec a, Vec b, Vec c) { return _mm512_fmsub_ps(a, b, c); }
/// Where a < b `then`, elsewhere `other`.
TITAN_SIMD Vec where_less(Vec a, Vec b, Vec then, Vec other) {
  return _mm512_mask_mov_ps(other, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), then);
}

template <int kTerms>
TITAN_SIMD Vec exp2_by(const float (&terms)[kTerms], Vec x) {
  const Vec fraction = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);  // x less its floor
  Vec sum = splat(terms[0]);
  TITAN_UNROLL
  for (int i = 1; i < kTerms; ++i) sum = mul_add(sum, fraction, splat(terms[i]));
  return _mm512_scalef_ps(sum, x);  // takes the floor of x itself
}
/// 2^x; 0 far below.
TITAN_SIMD Vec exp2(Vec x) { return exp2_by(kExp2, x); }

#if defined(__AVX512BF16__)
#define TITAN_SIMD_PAIRS 1
TITAN_SIMD Vec coarse_exp2(Vec x) { return exp2_by(kCoarseExp2, x); }

/// Adds the products of two bf16 to each fp32: c + a.low * b.low + a.high * b.high.
TITAN_SIMD Vec pair_mul_add(Vec a, Vec b, Vec c) {
  return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

/// 32 bf16.
using Halves = __m512i;
TITAN_SIMD Halves narrow(Vec first, Vec second) { return reinterpret_cast<Halves>(_mm512_cvtne2ps_pbh(second, first)); }
TITAN_SIMD void store(std::uint16_t* to, Halves a) { _mm512_storeu_si512(to, a); }

alignas(64) constexpr std::uint16_t kZipLow[32] = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                                   8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
/// Pairs (a[i], b[i]) of the lower and of the upper 16 elements.
TITAN_SIMD void zip(Halves a, Halves b, Vec& low, Vec& high) {
  const __m512i low_order = _mm512_load_si512(kZipLow);
  const __m512i high_order = _mm512_add_epi16(low_order, _mm512_set1_epi16(16));
  low = reinterpret_cast<Vec>(_mm512_permutex2var_epi16(a, low_order, b));
  high = reinterpret_cast<Vec>(_mm512_permutex2var_epi16(a, high_order, b));
}
#endif

}  // namespace
}  // namespace titan::nn::kernels
