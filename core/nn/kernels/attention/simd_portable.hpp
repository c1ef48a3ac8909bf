#pragma once

namespace titan::nn::kernels {
namespace {

// The compiler's own vectors: whatever the processor has.
using Vec = float __attribute__((vector_size(16)));
using IntVec = std::int32_t __attribute__((vector_size(16)));
constexpr std::int64_t kWidth = 4;

TITAN_SIMD Vec load(const float* from) {
  Vec a;
  __builtin_memcpy(&a, from, sizeof a);
  return a;
}
TITAN_SIMD void store(float* to, Vec a) { __builtin_memcpy(to, &a, sizeof a); }
TITAN_SIMD Vec splat(float value) { return Vec{value, value, value, value}; }
TITAN_SIMD Vec add(Vec a, Vec b) { return a + b; }
TITAN_SIMD Vec sub(Vec a, Vec b) { return a - b; }
TITAN_SIMD Vec mul(Vec a, Vec b) { return a * b; }
TITAN_SIMD Vec max(Vec a, Vec b) { return a > b ? a : b; }
/// a * b + c, a * b - c
TITAN_SIMD Vec mul_add(Vec a, Vec b, Vec c) { return a * b + c; }
TITAN_SIMD Vec mul_sub(Vec a, Vec b, Vec c) { return a * b - c; }
/// Where a < b `then`, elsewhere `other`.
TITAN_SIMD Vec where_less(Vec a, Vec b, Vec then, Vec other) { return a < b ? then : other; }

/// 2^x; below 2^-126 it stays there.
TITAN_SIMD Vec exp2(Vec x) {
  const Vec clamped = max(splat(-126.0F), x);
  const Vec cut = __builtin_convertvector(__builtin_convertvector(clamped, IntVec), Vec);
  const Vec whole = where_less(clamped, cut, cut - 1.0F, cut), fraction = sub(clamped, whole);
  Vec sum = splat(kExp2[0]);
  TITAN_UNROLL
  for (int i = 1; i < 6; ++i) sum = mul_add(sum, fraction, splat(kExp2[i]));
  return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(sum) + (__builtin_convertvector(whole, IntVec) << 23));
}

}  // namespace
}  // namespace titan::nn::kernels
