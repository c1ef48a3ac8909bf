#include "core/nn/kernels/cross_entropy_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/tensor/vector.hpp"

namespace titan::nn::kernels {
namespace {

using tensor::vector::exponential;
using tensor::vector::largest;
using tensor::vector::load;
using tensor::vector::store;
using tensor::vector::sum_of;

template <class T>
TITAN_INLINE void forward(const T* logits, const std::int64_t* labels, float* tops, float* inverse_sums, float* losses,
                          std::int64_t rows, std::int64_t vocab) {
  for (std::int64_t row = 0; row < rows; ++row, logits += vocab) {
    tops[row] = inverse_sums[row] = losses[row] = 0;
    if (labels[row] < 0) continue;
    const float top = largest(logits, vocab);
    const double sum =
        sum_of(vocab, [=](std::int64_t i) TITAN_INLINE_LAMBDA { return exponential(load(logits[i]) - top); });
    tops[row] = top;
    inverse_sums[row] = static_cast<float>(1 / sum);
    losses[row] = static_cast<float>(std::log(sum) + static_cast<double>(top - load(logits[labels[row]])));
  }
}

template <class T>
TITAN_INLINE void backward(const T* logits, const std::int64_t* labels, const float* tops, const float* inverse_sums,
                           float grad, T* grad_logits, std::int64_t rows, std::int64_t vocab) {
  for (std::int64_t row = 0; row < rows; ++row, logits += vocab, grad_logits += vocab) {
    if (labels[row] < 0) {
      for (std::int64_t i = 0; i < vocab; ++i) store(grad_logits[i], 0);
      continue;
    }
    const float top = tops[row], scale = grad * inverse_sums[row];
    for (std::int64_t i = 0; i < vocab; ++i) store(grad_logits[i], scale * exponential(load(logits[i]) - top));
    const float at_label = exponential(load(logits[labels[row]]) - top) * inverse_sums[row];
    store(grad_logits[labels[row]], grad * (at_label - 1));
  }
}

}  // namespace

TITAN_VECTOR_CLONES void cross_entropy(const float* logits, const std::int64_t* labels, float* tops,
                                       float* inverse_sums, float* losses, std::int64_t rows, std::int64_t vocab) {
  forward(logits, labels, tops, inverse_sums, losses, rows, vocab);
}

TITAN_VECTOR_CLONES void cross_entropy(const c10::BFloat16* logits, const std::int64_t* labels, float* tops,
                                       float* inverse_sums, float* losses, std::int64_t rows, std::int64_t vocab) {
  forward(logits, labels, tops, inverse_sums, losses, rows, vocab);
}

TITAN_VECTOR_CLONES void cross_entropy_backward(const float* logits, const std::int64_t* labels, const float* tops,
                                                const float* inverse_sums, float grad, float* grad_logits,
                                                std::int64_t rows, std::int64_t vocab) {
  backward(logits, labels, tops, inverse_sums, grad, grad_logits, rows, vocab);
}

TITAN_VECTOR_CLONES void cross_entropy_backward(const c10::BFloat16* logits, const std::int64_t* labels,
                                                const float* tops, const float* inverse_sums, float grad,
                                                c10::BFloat16* grad_logits, std::int64_t rows, std::int64_t vocab) {
  backward(logits, labels, tops, inverse_sums, grad, grad_logits, rows, vocab);
}

}  // namespace titan::nn::kernels
