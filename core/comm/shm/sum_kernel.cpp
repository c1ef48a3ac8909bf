#include "core/comm/shm/sum_kernel.hpp"

#include "core/tensor/vector.hpp"

// What is read is not what an earlier element wrote, though arrays may be the same.
#if defined(__GNUC__) && !defined(__clang__)
#define TITAN_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TITAN_INDEPENDENT
#endif

namespace titan::comm::shm {
namespace {

using tensor::vector::load;
using tensor::vector::store;

TITAN_INLINE double load(double value) { return value; }
// Sums of integers wrap around.
TITAN_INLINE std::uint64_t load(std::int64_t value) { return static_cast<std::uint64_t>(value); }
TITAN_INLINE std::uint32_t load(std::int32_t value) { return static_cast<std::uint32_t>(value); }
TITAN_INLINE float load(c10::Half value) { return c10::detail::fp16_ieee_to_fp32_value(value.x); }

TITAN_INLINE void store(double& out, double value) { out = value; }
TITAN_INLINE void store(std::int64_t& out, std::uint64_t value) { out = static_cast<std::int64_t>(value); }
TITAN_INLINE void store(std::int32_t& out, std::uint32_t value) { out = static_cast<std::int32_t>(value); }
TITAN_INLINE void store(c10::Half& out, float value) { out.x = c10::detail::fp16_ieee_from_fp32_value(value); }

/// Elements summed at a time: the sums stay in the first cache.
constexpr std::int64_t kBlock = 1024;

template <class T>
TITAN_INLINE void sum_two(T* out, const T* a, const T* b, std::int64_t n) {
  TITAN_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) store(out[i], load(a[i]) + load(b[i]));
}

template <class T>
TITAN_INLINE void sum_many(T* out, const T* const* in, std::int64_t num_parts, std::int64_t n) {
  if (num_parts == 2) return sum_two(out, in[0], in[1], n);
  decltype(load(T())) sums[kBlock];
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, n - begin);
    const T* const a = in[0] + begin;
    const T* const b = in[1] + begin;
    for (std::int64_t i = 0; i < count; ++i) sums[i] = load(a[i]) + load(b[i]);
    for (std::int64_t part = 2; part < num_parts; ++part) {
      const T* const next = in[part] + begin;
      for (std::int64_t i = 0; i < count; ++i) sums[i] += load(next[i]);
    }
    for (std::int64_t i = 0; i < count; ++i) store(out[begin + i], sums[i]);
  }
}

}  // namespace

TITAN_VECTOR_CLONES void sum_parts(float* out, const float* const* in, std::int64_t num_parts, std::int64_t n) {
  sum_many(out, in, num_parts, n);
}
TITAN_VECTOR_CLONES void sum_parts(double* out, const double* const* in, std::int64_t num_parts, std::int64_t n) {
  sum_many(out, in, num_parts, n);
}
TITAN_VECTOR_CLONES void sum_parts(std::int64_t* out, const std::int64_t* const* in, std::int64_t num_parts,
                                   std::int64_t n) {
  sum_many(out, in, num_parts, n);
}
TITAN_VECTOR_CLONES void sum_parts(std::int32_t* out, const std::int32_t* const* in, std::int64_t num_parts,
                                   std::int64_t n) {
  sum_many(out, in, num_parts, n);
}
TITAN_VECTOR_CLONES void sum_parts(c10::BFloat16* out, const c10::BFloat16* const* in, std::int64_t num_parts,
                                   std::int64_t n) {
  sum_many(out, in, num_parts, n);
}
TITAN_VECTOR_CLONES void sum_parts(c10::Half* out, const c10::Half* const* in, std::int64_t num_parts, std::int64_t n) {
  sum_many(out, in, num_parts, n);
}

}  // namespace titan::comm::shm
