#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace titan::nn::kernels {

/// For each row of `vocab` logits: tops = their largest, inverse_sums = 1 / sum(exp(logits - top)), losses = minus the
/// label's log-probability. Rows whose label is negative get 0 and are not read; other labels must be below `vocab`.
void cross_entropy(const float* logits, const std::int64_t* labels, float* tops, float* inverse_sums, float* losses,
                   std::int64_t rows, std::int64_t vocab);
void cross_entropy(const c10::BFloat16* logits, const std::int64_t* labels, float* tops, float* inverse_sums,
                   float* losses, std::int64_t rows, std::int64_t vocab);

/// grad_logits = grad * (softmax(logits) - one at the label); 0 in rows whose label is negative.
void cross_entropy_backward(const float* logits, const std::int64_t* labels, const float* tops,
                            const float* inverse_sums, float grad, float* grad_logits, std::int64_t rows,
                            std::int64_t vocab);
void cross_entropy_backward(const c10::BFloat16* logits, const std::int64_t* labels, const float* tops,
                            const float* inverse_sums, float grad, c10::BFloat16* grad_logits, std::int64_t rows,
                            std::int64_t vocab);

}  // namespace titan::nn::kernels
