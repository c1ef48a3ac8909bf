#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/manifest.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::app {

std::int64_t elements_of(const checkpoint::StoredTensor& tensor);
std::uint64_t bytes_of(const checkpoint::StoredTensor& tensor);
/// "[512, 64]".
std::string shape_text(const std::vector<std::int64_t>& shape);
/// "full" or "model_only".
std::string_view contents_name(checkpoint::Contents contents);

/// Cuts a tensor into boxes of at most `most_bytes`, row-major, each a range of one dim within single indices of those
/// before. A tensor without elements has none.
std::vector<Box> cut(const std::vector<std::int64_t>& shape, std::size_t element_size, std::uint64_t most_bytes);

}  // namespace titan::app
