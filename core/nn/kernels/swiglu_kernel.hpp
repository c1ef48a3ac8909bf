#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace titan::nn::kernels {

/// out = silu(gate) * up, over `count` elements.
void swiglu(const float* gate, const float* up, float* out, std::int64_t count);
void swiglu(const c10::BFloat16* gate, const c10::BFloat16* up, c10::BFloat16* out, std::int64_t count);

/// Gradients of both inputs.
void swiglu_backward(const float* grad, const float* gate, const float* up, float* grad_gate, float* grad_up,
                     std::int64_t count);
void swiglu_backward(const c10::BFloat16* grad, const c10::BFloat16* gate, const c10::BFloat16* up,
                     c10::BFloat16* grad_gate, c10::BFloat16* grad_up, std::int64_t count);

}  // namespace titan::nn::kernels
