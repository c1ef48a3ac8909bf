#include "core/app/checkpoint/tensor_facts.hpp"

namespace titan::app {

std::int64_t elements_of(const checkpoint::StoredTensor& tensor) { return checkpoint::num_elements(tensor.shape); }

std::uint64_t bytes_of(const checkpoint::StoredTensor& tensor) {
  return static_cast<std::uint64_t>(elements_of(tensor)) * checkpoint::element_size(tensor.dtype);
}

}  // namespace titan::app
