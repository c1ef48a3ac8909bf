#include "benchmarks/peak.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/base/clock.hpp"
#include "core/tensor/parallel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace titan::benchmark {
namespace {

// Enough to hide the latency of a multiplication, and no more than there are registers for.
constexpr int kSums = 10;
constexpr std::int64_t kRounds = 1'000'000;

struct Loop {
  float (*run)(std::int64_t rounds);  // gives a number, so that nothing is left out
  int flops;                          // of one instruction
};

#if defined(__x86_64__)
// Sums by name, since an array would be kept in memory, and each of unknown value, since equal ones would be one.
#define TITAN_PEAK_LOOP(name, isa, Vec, zero, step)                                                                 \
  __attribute__((target(isa))) float name(std::int64_t rounds) {                                                    \
    Vec a = zero, b = zero, s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero, s6 = zero, s7 = zero, \
        s8 = zero, s9 = zero;                                                                                       \
    for (std::int64_t round = 0; round < rounds; ++round) {                                                         \
      asm volatile(""                                                                                               \
                   : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7), "+v"(s8),      \
                     "+v"(s9));                                                                                     \
      s0 = step(s0), s1 = step(s1), s2 = step(s2), s3 = step(s3), s4 = step(s4), s5 = step(s5), s6 = step(s6),      \
      s7 = step(s7), s8 = step(s8), s9 = step(s9);                                                                  \
    }                                                                                                               \
    return (((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + (s8 + s9))[0];                                      \
  }
#define TITAN_FMA_256(sum) _mm256_fmadd_ps(a, b, sum)
#define TITAN_FMA_512(sum) _mm512_fmadd_ps(a, b, sum)
#define TITAN_PAIRS_512(sum) _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b))
TITAN_PEAK_LOOP(fma_256, "avx2,fma", __m256, _mm256_setzero_ps(), TITAN_FMA_256)
TITAN_PEAK_LOOP(fma_512, "avx512f", __m512, _mm512_setzero_ps(), TITAN_FMA_512)
TITAN_PEAK_LOOP(pairs_512, "avx512f,avx512bf16", __m512, _mm512_setzero_ps(), TITAN_PAIRS_512)

std::vector<Loop> loops(bool is_bfloat16) {
  std::vector<Loop> found;
  if (is_bfloat16 && __builtin_cpu_supports("avx512bf16")) found.push_back({pairs_512, 64});
  if (__builtin_cpu_supports("avx512f")) {
    found.push_back({fma_512, 32});
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.push_back({fma_256, 16});
  }
  return found;
}
#else
std::vector<Loop> loops(bool) { return {}; }
#endif

double flops_of(const Loop& loop) {
  const auto num_threads = static_cast<std::int64_t>(at::get_num_threads());
  std::atomic<float> kept{0};
  const double begin = monotonic_seconds();
  tensor::parallel_for(0, num_threads, 1, [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first) kept = loop.run(kRounds);
  });
  const double seconds = monotonic_seconds() - begin;
  return static_cast<double>(num_threads * kRounds * kSums * loop.flops) / seconds;
}

}  // namespace

double peak_flops(bool is_bfloat16) {
  double most = 0;
  for (const Loop& loop : loops(is_bfloat16)) most = std::max(most, flops_of(loop));
  return most;
}

}  // namespace titan::benchmark
