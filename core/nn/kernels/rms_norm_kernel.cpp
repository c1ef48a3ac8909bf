#include "core/nn/kernels/rms_norm_kernel.hpp"

#include <cmath>

#include "core/nn/kernels/vector.hpp"

namespace titan::nn::kernels {
namespace {

template <class T>
TITAN_INLINE void forward(const T* x, const T* weight, T* out, float* scale, std::int64_t rows, std::int64_t dim,
                          double eps) {
  for (std::int64_t row = 0; row < rows; ++row, x += dim, out += dim) {
    const double squares = sum_of(dim, [x](std::int64_t i) TITAN_INLINE_LAMBDA { return load(x[i]) * load(x[i]); });
    const auto factor = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(dim) + eps));
    scale[row] = factor;
    for (std::int64_t i = 0; i < dim; ++i) store(out[i], load(x[i]) * factor * load(weight[i]));
  }
}

template <class T>
TITAN_INLINE void backward(const T* grad, const T* x, const T* weight, const float* scale, T* grad_x,
                           float* grad_weight, std::int64_t rows, std::int64_t dim) {
  for (std::int64_t row = 0; row < rows; ++row, grad += dim, x += dim, grad_x += dim) {
    const float factor = scale[row];
    const double product =
        sum_of(dim, [=](std::int64_t i) TITAN_INLINE_LAMBDA { return load(grad[i]) * load(weight[i]) * load(x[i]); });
    // d out / d x = scale * weight - x * scale^3 / dim * (x . weight): the second part is the same for the whole row.
    const auto shared = static_cast<float>(product / static_cast<double>(dim)) * factor * factor * factor;
    for (std::int64_t i = 0; i < dim; ++i) {
      const float g = load(grad[i]), value = load(x[i]);
      store(grad_x[i], g * load(weight[i]) * factor - value * shared);
      grad_weight[i] += g * (value * factor);
    }
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

TITAN_VECTOR_CLONES void rms_norm_backward(const float* grad, const float* x, const float* weight, const float* scale,
                                           float* grad_x, float* grad_weight, std::int64_t rows, std::int64_t dim) {
  backward(grad, x, weight, scale, grad_x, grad_weight, rows, dim);
}

TITAN_VECTOR_CLONES void rms_norm_backward(const c10::BFloat16* grad, const c10::BFloat16* x,
                                           const c10::BFloat16* weight, const float* scale, c10::BFloat16* grad_x,
                                           float* grad_weight, std::int64_t rows, std::int64_t dim) {
  backward(grad, x, weight, scale, grad_x, grad_weight, rows, dim);
}

}  // namespace titan::nn::kernels
