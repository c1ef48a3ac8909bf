#include "core/checkpoint/parts.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::checkpoint {

bool lies_in(const Box& box, const std::vector<std::int64_t>& shape) {
  if (box.offset.size() != shape.size() || box.size.size() != shape.size()) return false;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (box.offset[dim] < 0 || box.size[dim] < 0 || box.offset[dim] > shape[dim] ||
        box.size[dim] > shape[dim] - box.offset[dim]) {
      return false;
    }
  }
  return true;
}

std::string shape_text(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (const std::int64_t size : sizes) texts.push_back(concat(size));
  return concat('[', join(texts, ", "), ']');
}

std::int64_t num_elements(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62U;
  bool is_empty = false;
  // Zeros are set aside: the strides of [2^40, 2^40, 0] would overflow although it has no elements.
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw DataError("[checkpoint] a size is negative: shape ", shape_text(sizes));
    is_empty = is_empty || size == 0;
    const std::int64_t factor = std::max<std::int64_t>(size, 1);
    if (elements > kMost / factor) {
      throw DataError("[checkpoint] a tensor has too many elements: shape ", shape_text(sizes), ", limit 2^62");
    }
    elements *= factor;
  }
  return is_empty ? 0 : elements;
}

}  // namespace titan::checkpoint
