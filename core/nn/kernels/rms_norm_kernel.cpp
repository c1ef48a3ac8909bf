#include "core/nn/kernels/rms_norm_kernel.hpp"

#include <cmath>

#include "core/tensor/vector.hpp"

namespace titan::nn::kernels {
namespace {

using tensor::vector::load;
using tensor::vector::store;
using tensor::vector::sum_of;

/// Of a row: out = x * scale * weight; gives the scale.
template <class T>
TITAN_INLINE float norm_row(const T* x, const T* weight, T* out, std::int64_t dim, double eps) {
  const double squares = sum_of(dim, [x](std::int64_t i) TITAN_INLINE_LAMBDA { return load(x[i]) * load(x[i]); });
  const auto factor = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(dim) + eps));
  for (std::int64_t i = 0; i < dim; ++i) store(out[i], load(x[i]) * factor * load(weight[i]));
  return factor;
}

template <class T>
TITAN_INLINE void forward(const T* x, const T* weight, T* out, float* scale, std::int64_t rows, std::int64_t dim,
                          double eps) {
  for (std::int64_t row = 0; row < rows; ++row, x += dim, out += dim) scale[row] = norm_row(x, weight, out, dim, eps);
}

/// A row's sum is read back from the first cache.
template <class T>
TITAN_INLINE void add_forward(const T* x, const T* residual, const T* weight, T* sum, T* out, float* scale,
                              std::int64_t rows, std::int64_t dim, double eps) {
  for (std::int64_t row = 0; row < rows; ++row, x += dim, residual += dim, sum += dim, out += dim) {
    for (std::int64_t i = 0; i < dim; ++i) store(sum[i], load(x[i]) + load(residual[i]));
    scale[row] = norm_row(sum, weight, out, dim, eps);
  }
}

/// Rounded to the elements' type.
TITAN_INLINE float rounded(float value, const float*) { return value; }
TITAN_INLINE float rounded(float value, const c10::BFloat16*) {
  c10::BFloat16 stored;
  store(stored, value);
  return load(stored);
}

template <bool kAdds, class T>
TITAN_INLINE void backward(const T* grad, const T* grad_sum, const T* x, const T* weight, const float* scale, T* grad_x,
                           float* grad_weight, std::int64_t rows, std::int64_t dim) {
  for (std::int64_t row = 0; row < rows; ++row, grad += dim, x += dim, grad_x += dim) {
    const float factor = scale[row];
    const double product =
        sum_of(dim, [=](std::int64_t i) TITAN_INLINE_LAMBDA { return load(grad[i]) * load(weight[i]) * load(x[i]); });
    // d out / d x = scale * weight - x * scale^3 / dim * (x . weight): the second part is the same for the whole row.
    const auto shared = static_cast<float>(product / static_cast<double>(dim)) * factor * factor * factor;
    for (std::int64_t i = 0; i < dim; ++i) {
      const float g = load(grad[i]), value = load(x[i]);
      const float of_norm = g * load(weight[i]) * factor - value * shared;
      if constexpr (kAdds) {
        store(grad_x[i], rounded(of_norm, grad_x) + load(grad_sum[i]));
      } else {
        store(grad_x[i], of_norm);
      }
      grad_weight[i] += g * (value * factor);
    }
    if constexpr (kAdds) grad_sum += dim;
  }
}

}  // namespace

TITAN_VECTOR_CLONES void rms_norm(const float* x, const float* weight, float* out, float* scale, std::int64_t rows,
                                  std::int64_t dim, double eps) {
  forward(x, weight, out, scale, rows, dim, eps);
}

TITAN_VECTOR_CLONES void rms_norm(const c10::BFloat16* x, const c10::BFloat16* weight, c10::BFloat16* out, float* scale,
                                  std::int64_t rows, std::int64_t dim, double eps) {
  forward(x, weight, out, scale, rows, dim, eps);
}

TITAN_VECTOR_CLONES void add_rms_norm(const float* x, const float* residual, const float* weight, float* sum,
                                      float* out, float* scale, std::int64_t rows, std::int64_t dim, double eps) {
  add_forward(x, residual, weight, sum, out, scale, rows, dim, eps);
}

TITAN_VECTOR_CLONES void add_rms_norm(const c10::BFloat16* x, const c10::BFloat16* residual,
                                      const c10::BFloat16* weight, c10::BFloat16* sum, c10::BFloat16* out, float* scale,
                                      std::int64_t rows, std::int64_t dim, double eps) {
  add_forward(x, residual, weight, sum, out, scale, rows, dim, eps);
}

TITAN_VECTOR_CLONES void rms_norm_backward(const float* grad, const float* x, const float* weight, const float* scale,
                                           float* grad_x, float* grad_weight, std::int64_t rows, std::int64_t dim) {
  backward<false>(grad, grad, x, weight, scale, grad_x, grad_weight, rows, dim);
}

TITAN_VECTOR_CLONES void rms_norm_backward(const c10::BFloat16* grad, const c10::BFloat16* x,
                                           const c10::BFloat16* weight, const float* scale, c10::BFloat16* grad_x,
                                           float* grad_weight, std::int64_t rows, std::int64_t dim) {
  backward<false>(grad, grad, x, weight, scale, grad_x, grad_weight, rows, dim);
}

TITAN_VECTOR_CLONES void add_rms_norm_backward(const float* grad, const float* grad_sum, const float* sum,
                                               const float* weight, const float* scale, float* grad_x,
                                               float* grad_weight, std::int64_t rows, std::int64_t dim) {
  backward<true>(grad, grad_sum, sum, weight, scale, grad_x, grad_weight, rows, dim);
}

TITAN_VECTOR_CLONES void add_rms_norm_backward(const c10::BFloat16* grad, const c10::BFloat16* grad_sum,
                                               const c10::BFloat16* sum, const c10::BFloat16* weight,
                                               const float* scale, c10::BFloat16* grad_x, float* grad_weight,
                                               std::int64_t rows, std::int64_t dim) {
  backward<true>(grad, grad_sum, sum, weight, scale, grad_x, grad_weight, rows, dim);
}

}  // namespace titan::nn::kernels
