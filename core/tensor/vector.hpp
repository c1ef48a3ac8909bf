#pragma once

#include <c10/util/BFloat16.h>

#include <algorithm>
#include <bit>
#include <cstdint>

// Plain loops that the compiler turns into vector code, compiled once for each level of x86-64 and picked at load time.
// Sanitizers' runtimes are not up yet when the picking happens.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TITAN_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TITAN_VECTOR_CLONES
#endif
// Everything a clone calls must become part of it, or it would run at the default level.
#define TITAN_INLINE inline __attribute__((always_inline))
#define TITAN_INLINE_LAMBDA __attribute__((always_inline))

namespace titan::tensor::vector {

TITAN_INLINE float load(float value) { return value; }
TITAN_INLINE float load(c10::BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.x) << 16); }

TITAN_INLINE void store(float& out, float value) { out = value; }
/// Rounds to nearest, ties to even.
TITAN_INLINE void store(c10::BFloat16& out, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  out.x = static_cast<std::uint16_t>(value != value ? 0x7fc0 : rounded);
}

/// e^x to 2 ulp; 0 below -87 and no infinity above 88; NaN stays.
TITAN_INLINE float exponential(float x) {
  constexpr float kLeast = -87.0F, kMost = 88.0F, kRound = 12582912.0F;  // 1.5 * 2^23: adding it drops the fraction
  const float low = x < kLeast ? kLeast : x, clamped = low > kMost ? kMost : low;
  const float n = (clamped * 1.44269504F + kRound) - kRound;
  const float r = (clamped - n * 0.693145752F) - n * 1.42860677e-6F;  // ln 2 in two parts
  float sum = 1.0F / 5040;
  sum = sum * r + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  const auto power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
  return x < kLeast ? 0.0F : sum * power;
}

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kSumBlock = 4096;

/// Sums term(0) to term(n - 1) in a fixed order that vectorises: interleaved partial sums, blocks added in fp64.
template <class Term>
TITAN_INLINE double sum_of(std::int64_t n, Term term) {
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += kSumBlock) {
    const std::int64_t end = std::min(n, begin + kSumBlock);
    float lanes[kLanes] = {};
    std::int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
    }
    for (; i < end; ++i) lanes[i % kLanes] += term(i);
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    total += static_cast<double>(lanes[0]);
  }
  return total;
}

/// The largest of `count` values, at least one. NaN may be passed over.
template <class T>
TITAN_INLINE float largest(const T* values, std::int64_t count) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = load(values[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const float value = load(values[i + lane]);
      lanes[lane] = lanes[lane] < value ? value : lanes[lane];
    }
  }
  for (; i < count; ++i) lanes[0] = std::max(lanes[0], load(values[i]));
  return *std::max_element(lanes, lanes + kLanes);
}

}  // namespace titan::tensor::vector
