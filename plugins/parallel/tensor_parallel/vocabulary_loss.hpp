#pragma once

#include <ATen/core/Tensor.h>

#include "plugins/parallel/tensor_parallel/vocabulary.hpp"
#include "titan/torch/group.hpp"

namespace titan::parallel {

/// Sum of the cross-entropies of logits whose vocabulary is split over a group, as titan.cross_entropy gives it for all
/// of them: logits [B, L, part.count] of this rank, labels [B, L] int64 of the whole vocabulary, kIgnoredLabel ignored
/// -> [], the same on all ranks, float64 for float64 logits, else float32. The group exchanges three numbers a token,
/// never logits. Backward needs no exchange, and keeps the logits and two numbers a token.
at::Tensor vocabulary_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, const VocabularyPart& part,
                                    const strategy::Group& group);

}  // namespace titan::parallel
