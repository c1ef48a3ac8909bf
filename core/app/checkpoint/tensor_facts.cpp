#include "core/app/checkpoint/tensor_facts.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace titan::app {

std::int64_t elements_of(const checkpoint::StoredTensor& tensor) { return checkpoint::num_elements(tensor.shape); }

std::uint64_t bytes_of(const checkpoint::StoredTensor& tensor) {
  return static_cast<std::uint64_t>(elements_of(tensor)) * checkpoint::element_size(tensor.dtype);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(concat(size));
  return concat('[', join(sizes, ", "), ']');
}

std::string_view contents_name(checkpoint::Contents contents) {
  return contents == checkpoint::Contents::full ? "full" : "model_only";
}

std::vector<Box> cut(const std::vector<std::int64_t>& shape, std::size_t element_size, std::uint64_t most_bytes) {
  const std::int64_t elements = checkpoint::num_elements(shape);
  if (elements == 0) return {};
  // The dim that is cut, and how many elements one index of it has.
  std::size_t dim = 0;
  std::int64_t row = elements;
  const auto most = std::max<std::int64_t>(1, static_cast<std::int64_t>(most_bytes / element_size));
  while (dim < shape.size()) {
    row /= shape[dim];
    if (row <= most) break;
    ++dim;
  }
  if (dim == shape.size()) return {{std::vector<std::int64_t>(shape.size(), 0), shape}};
  const std::int64_t rows = most / row;
  std::vector<Box> boxes;
  for (std::int64_t index = 0; index < elements / row / shape[dim]; ++index) {
    Box box{std::vector<std::int64_t>(shape.size(), 0), shape};
    std::int64_t rest = index;
    for (std::size_t before = dim; before-- > 0; rest /= shape[before]) {
      box.offset[before] = rest % shape[before];
      box.size[before] = 1;
    }
    for (std::int64_t begin = 0; begin < shape[dim]; begin += rows) {
      box.offset[dim] = begin;
      box.size[dim] = std::min(rows, shape[dim] - begin);
      boxes.push_back(box);
    }
  }
  return boxes;
}

}  // namespace titan::app
