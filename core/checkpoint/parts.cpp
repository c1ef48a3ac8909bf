#include "core/checkpoint/parts.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::checkpoint {

namespace {

std::string shown(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (const std::int64_t size : sizes) texts.push_back(concat(size));
  return concat('[', join(texts, ", "), ']');
}

}  // namespace

std::int64_t num_elements(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62U;
  bool is_empty = false;
  // Zeros are set aside: the strides of [2^40, 2^40, 0] would overflow although it has no elements.
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw DataError("[checkpoint] a size is negative: shape ", shown(sizes));
    is_empty = is_empty || size == 0;
    const std::int64_t factor = std::max<std::int64_t>(size, 1);
    if (elements > kMost / factor) {
      throw DataError("[checkpoint] a tensor has too many elements: shape ", shown(sizes), ", limit 2^62");
    }
    elements *= factor;
  }
  return is_empty ? 0 : elements;
}

}  // namespace titan::checkpoint
