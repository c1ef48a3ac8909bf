#include "core/optim/kernels/adam_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/tensor/vector.hpp"

// One pass over memory: parameter and moments are read and written once, the gradient is read in the dtype it has and
// scaled on the way, and the copy in the other dtype is made while its block is in the first-level cache. At 4 arrays
// of fp32 that is 28 bytes a parameter, and memory is the bound: a processor core computes four times as fast.
//
//   gradient ---- scale ----> g --+--> m -----------+
//   parameter --- decay --------- | --------------- - --> parameter --> copy
//                                 +--> v -> 1/sqrt -+
namespace titan::optim::kernels {
namespace {

using tensor::vector::load;
using tensor::vector::store;

constexpr std::int64_t kBlock = 2048;

template <class Storage, class Gradient>
TITAN_INLINE void update(const AdamFactors& f, Storage* __restrict parameter, const Gradient* __restrict gradient,
                         Storage* __restrict exp_avg, Storage* __restrict exp_avg_sq, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float p = load(parameter[i]), old = load(exp_avg[i]);
    const float g = load(gradient[i]) * f.gradient_scale + p * f.weight_decay;
    const float m = old + (g - old) * f.keep_avg;
    const float v = load(exp_avg_sq[i]) * f.beta2 + g * g * f.keep_square;
    store(exp_avg[i], m);
    store(exp_avg_sq[i], v);
    store(parameter[i], p * f.decay - f.step_size * m / (std::sqrt(v) * f.inverse_correction + f.eps));
  }
}

template <class Storage, class Copy>
TITAN_INLINE void convert(const Storage* __restrict from, Copy* __restrict to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) store(to[i], load(from[i]));
}

template <class Storage, class Gradient, class Copy>
TITAN_INLINE void step(const AdamFactors& factors, const AdamSlice<Storage, Gradient, Copy>& s) {
  for (std::int64_t begin = 0; begin < s.count; begin += kBlock) {
    const std::int64_t size = std::min(kBlock, s.count - begin);
    update(factors, s.parameter + begin, s.gradient + begin, s.exp_avg + begin, s.exp_avg_sq + begin, size);
    if (s.copy != nullptr) convert(s.parameter + begin, s.copy + begin, size);
  }
}

}  // namespace

TITAN_VECTOR_CLONES void adam(const AdamFactors& factors, const AdamSlice<float, float, c10::BFloat16>& slice) {
  step(factors, slice);
}

TITAN_VECTOR_CLONES void adam(const AdamFactors& factors, const AdamSlice<float, c10::BFloat16, c10::BFloat16>& slice) {
  step(factors, slice);
}

TITAN_VECTOR_CLONES void adam(const AdamFactors& factors, const AdamSlice<c10::BFloat16, float, float>& slice) {
  step(factors, slice);
}

TITAN_VECTOR_CLONES void adam(const AdamFactors& factors, const AdamSlice<c10::BFloat16, c10::BFloat16, float>& slice) {
  step(factors, slice);
}

}  // namespace titan::optim::kernels
