#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace titan::nn::kernels {

/// For each row of `vocab` logits minus the log-probability of its label. Rows whose label is negative get 0 and are
/// not read; other labels must be below `vocab`.
void losses(const float* logits, const std::int64_t* labels, float* losses, std::int64_t rows, std::int64_t vocab);
void losses(const c10::BFloat16* logits, const std::int64_t* labels, float* losses, std::int64_t rows,
            std::int64_t vocab);

/// The same, and puts grad * (softmax(logits) - one at the label) in the logits' place; 0 where the label is negative.
void losses_and_gradients(float* logits, const std::int64_t* labels, float grad, float* losses, std::int64_t rows,
                          std::int64_t vocab);
void losses_and_gradients(c10::BFloat16* logits, const std::int64_t* labels, float grad, float* losses,
                          std::int64_t rows, std::int64_t vocab);

/// sum = x, and sum += x, over `count` elements.
void convert(const c10::BFloat16* x, float* sum, std::int64_t count);
void add(const c10::BFloat16* x, float* sum, std::int64_t count);

}  // namespace titan::nn::kernels
