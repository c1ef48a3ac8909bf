#pragma once

#include <cstdint>

#include "core/checkpoint/source.hpp"

namespace titan::app {

std::int64_t elements_of(const checkpoint::StoredTensor& tensor);
std::uint64_t bytes_of(const checkpoint::StoredTensor& tensor);

}  // namespace titan::app
