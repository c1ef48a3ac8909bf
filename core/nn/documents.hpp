#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace titan::nn {

/// One document in a batch of packed rows: `length` tokens of row `row` from `start` on.
struct Document {
  std::int64_t row, start, length;
};

/// Finds the documents of positions [B, L] int64 on the CPU: a new one begins with each row, and wherever positions do
/// not grow. Gives int64 [documents, 3]: row, start, length.
at::Tensor find_documents(const at::Tensor& positions);

/// Reads what find_documents gave. Valid as long as the tensor.
std::span<const Document> documents(const at::Tensor& found);

}  // namespace titan::nn
