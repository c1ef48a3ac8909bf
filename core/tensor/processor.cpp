#include "core/tensor/processor.hpp"

#include <ATen/cpu/Utils.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#define TITAN_X86 1
#endif

namespace titan::tensor {

#ifdef TITAN_X86
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

bool has_avx512_bf16() { return has_avx512() && __builtin_cpu_supports("avx512bf16") != 0; }

bool is_intels() { return __builtin_cpu_is("intel") != 0; }

bool has_slow_bf16_pairs() {
  // AVX512-FP16 came with Sapphire Rapids.
  unsigned int a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned int kFeatures = 7, kFp16Bit = 1U << 23U;
  return is_intels() && __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (d & kFp16Bit) != 0;
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
bool has_avx512_bf16() { return false; }
bool is_intels() { return false; }
bool has_slow_bf16_pairs() { return false; }
#endif

bool has_amx() { return at::cpu::init_amx(); }

}  // namespace titan::tensor
