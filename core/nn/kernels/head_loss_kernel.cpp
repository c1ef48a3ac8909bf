#include "core/nn/kernels/head_loss_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/tensor/vector.hpp"

namespace titan::nn::kernels {
namespace {

using tensor::vector::exponential;
using tensor::vector::largest;
using tensor::vector::load;
using tensor::vector::store;
using tensor::vector::sum_of;

/// Of one row; fills what its gradient is made of.
struct Softmax {
  float top;       // the largest logit
  double sum;      // of exp(logit - top)
  float at_label;  // the label's logit
  float loss() const { return static_cast<float>(std::log(sum) + static_cast<double>(top - at_label)); }
};

template <class T>
TITAN_INLINE Softmax softmax(const T* logits, std::int64_t label, std::int64_t vocab) {
  const float top = largest(logits, vocab);
  const double sum =
      sum_of(vocab, [=](std::int64_t i) TITAN_INLINE_LAMBDA { return exponential(load(logits[i]) - top); });
  return {top, sum, load(logits[label])};
}

template <class T>
TITAN_INLINE void losses_of(const T* logits, const std::int64_t* labels, float* losses, std::int64_t rows,
                            std::int64_t vocab) {
  for (std::int64_t row = 0; row < rows; ++row, logits += vocab) {
    losses[row] = labels[row] < 0 ? 0 : softmax(logits, labels[row], vocab).loss();
  }
}

template <class T>
TITAN_INLINE void gradients_of(T* logits, const std::int64_t* labels, float grad, float* losses, std::int64_t rows,
                               std::int64_t vocab) {
  for (std::int64_t row = 0; row < rows; ++row, logits += vocab) {
    losses[row] = 0;
    if (labels[row] < 0) {
      std::fill(logits, logits + vocab, T());
      continue;
    }
    const Softmax parts = softmax(logits, labels[row], vocab);
    losses[row] = parts.loss();
    const auto inverse = static_cast<float>(1 / parts.sum);
    const float top = parts.top, scale = grad * inverse;
    // Once more: an exponential costs less than to keep it would, for a row beyond the first cache.
    for (std::int64_t i = 0; i < vocab; ++i) store(logits[i], scale * exponential(load(logits[i]) - top));
    store(logits[labels[row]], grad * (exponential(parts.at_label - top) * inverse - 1));
  }
}

}  // namespace

TITAN_VECTOR_CLONES void losses(const float* logits, const std::int64_t* labels, float* losses, std::int64_t rows,
                                std::int64_t vocab) {
  losses_of(logits, labels, losses, rows, vocab);
}

TITAN_VECTOR_CLONES void losses(const c10::BFloat16* logits, const std::int64_t* labels, float* losses,
                                std::int64_t rows, std::int64_t vocab) {
  losses_of(logits, labels, losses, rows, vocab);
}

TITAN_VECTOR_CLONES void losses_and_gradients(float* logits, const std::int64_t* labels, float grad, float* losses,
                                              std::int64_t rows, std::int64_t vocab) {
  gradients_of(logits, labels, grad, losses, rows, vocab);
}

TITAN_VECTOR_CLONES void losses_and_gradients(c10::BFloat16* logits, const std::int64_t* labels, float grad,
                                              float* losses, std::int64_t rows, std::int64_t vocab) {
  gradients_of(logits, labels, grad, losses, rows, vocab);
}

TITAN_VECTOR_CLONES void convert(const c10::BFloat16* x, float* sum, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] = load(x[i]);
}

TITAN_VECTOR_CLONES void add(const c10::BFloat16* x, float* sum, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += load(x[i]);
}

}  // namespace titan::nn::kernels
