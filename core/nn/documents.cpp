#include "core/nn/documents.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

namespace titan::nn {

static_assert(sizeof(Document) == 3 * sizeof(std::int64_t));

at::Tensor find_documents(const at::Tensor& positions) {
  const at::Tensor flat = positions.contiguous();
  const std::int64_t rows = flat.size(0), length = flat.size(1);
  const auto* position = flat.const_data_ptr<std::int64_t>();
  std::vector<Document> found;
  for (std::int64_t row = 0; row < rows; ++row, position += length) {
    for (std::int64_t start = 0, end = 1; start < length; start = end++) {
      while (end < length && position[end] > position[end - 1]) ++end;
      found.push_back({row, start, end - start});
    }
  }
  at::Tensor table = at::empty({static_cast<std::int64_t>(found.size()), 3}, at::kLong);
  std::copy(found.begin(), found.end(), reinterpret_cast<Document*>(table.mutable_data_ptr<std::int64_t>()));
  return table;
}

std::span<const Document> documents(const at::Tensor& found) {
  return {reinterpret_cast<const Document*>(found.const_data_ptr<std::int64_t>()),
          static_cast<std::size_t>(found.size(0))};
}

}  // namespace titan::nn
