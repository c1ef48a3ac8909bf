#include "core/nn/kernels/swiglu_kernel.hpp"

#include "core/tensor/vector.hpp"

namespace titan::nn::kernels {
namespace {

using tensor::vector::exponential;
using tensor::vector::load;
using tensor::vector::store;

TITAN_INLINE float sigmoid(float x) { return 1.0F / (1.0F + exponential(-x)); }

template <class T>
TITAN_INLINE void forward(const T* gate, const T* up, T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = load(gate[i]);
    store(out[i], g * sigmoid(g) * load(up[i]));
  }
}

template <class T>
TITAN_INLINE void backward(const T* grad, const T* gate, const T* up, T* grad_gate, T* grad_up, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float d = load(grad[i]), g = load(gate[i]), s = sigmoid(g);
    store(grad_gate[i], d * load(up[i]) * s * (1.0F + g * (1.0F - s)));
    store(grad_up[i], d * g * s);
  }
}

}  // namespace

TITAN_VECTOR_CLONES void swiglu(const float* gate, const float* up, float* out, std::int64_t count) {
  forward(gate, up, out, count);
}

TITAN_VECTOR_CLONES void swiglu(const c10::BFloat16* gate, const c10::BFloat16* up, c10::BFloat16* out,
                                std::int64_t count) {
  forward(gate, up, out, count);
}

TITAN_VECTOR_CLONES void swiglu_backward(const float* grad, const float* gate, const float* up, float* grad_gate,
                                         float* grad_up, std::int64_t count) {
  backward(grad, gate, up, grad_gate, grad_up, count);
}

TITAN_VECTOR_CLONES void swiglu_backward(const c10::BFloat16* grad, const c10::BFloat16* gate, const c10::BFloat16* up,
                                         c10::BFloat16* grad_gate, c10::BFloat16* grad_up, std::int64_t count) {
  backward(grad, gate, up, grad_gate, grad_up, count);
}

}  // namespace titan::nn::kernels
