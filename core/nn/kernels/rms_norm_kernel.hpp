#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace titan::nn::kernels {

/// out = x * scale * weight, with scale = 1 / sqrt(mean(x^2) + eps) of each row. Rows of `dim`.
void rms_norm(const float* x, const float* weight, float* out, float* scale, std::int64_t rows, std::int64_t dim,
              double eps);
void rms_norm(const c10::BFloat16* x, const c10::BFloat16* weight, c10::BFloat16* out, float* scale, std::int64_t rows,
              std::int64_t dim, double eps);

/// The same of sum = x + residual, which is rounded to the elements' type before it goes on.
void add_rms_norm(const float* x, const float* residual, const float* weight, float* sum, float* out, float* scale,
                  std::int64_t rows, std::int64_t dim, double eps);
void add_rms_norm(const c10::BFloat16* x, const c10::BFloat16* residual, const c10::BFloat16* weight,
                  c10::BFloat16* sum, c10::BFloat16* out, float* scale, std::int64_t rows, std::int64_t dim,
                  double eps);

/// Gradients: overwrites grad_x, adds to grad_weight [dim].
void rms_norm_backward(const float* grad, const float* x, const float* weight, const float* scale, float* grad_x,
                       float* grad_weight, std::int64_t rows, std::int64_t dim);
void rms_norm_backward(const c10::BFloat16* grad, const c10::BFloat16* x, const c10::BFloat16* weight,
                       const float* scale, c10::BFloat16* grad_x, float* grad_weight, std::int64_t rows,
                       std::int64_t dim);

/// Gradients of add_rms_norm: grad_x, of both summands, is that of the norm, rounded, plus grad_sum.
void add_rms_norm_backward(const float* grad, const float* grad_sum, const float* sum, const float* weight,
                           const float* scale, float* grad_x, float* grad_weight, std::int64_t rows, std::int64_t dim);
void add_rms_norm_backward(const c10::BFloat16* grad, const c10::BFloat16* grad_sum, const c10::BFloat16* sum,
                           const c10::BFloat16* weight, const float* scale, c10::BFloat16* grad_x, float* grad_weight,
                           std::int64_t rows, std::int64_t dim);

}  // namespace titan::nn::kernels
