#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace titan::observability {

/// What of one dimension is taken: `count` indices from `first` in steps.
struct Selection {
  std::int64_t first = 0, count = 0, step = 1;
  bool is_index = false;  // one index, without the dimension

  bool operator==(const Selection&) const = default;
};

/// Reads a slice as Python does, "[0, 1:4, ..., ::2]", of a tensor of these sizes: one selection a dimension. Steps are
/// positive. An empty text takes all. CommandError says what is wrong.
std::vector<Selection> parse_slice(std::string_view text, const std::vector<std::int64_t>& sizes);

}  // namespace titan::observability
