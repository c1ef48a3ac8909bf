#pragma once

#include <cstdint>
#include <vector>

namespace titan {

/// A rectangular part of a tensor: first index and number of indices in each dim.
struct Box {
  std::vector<std::int64_t> offset, size;

  friend bool operator==(const Box&, const Box&) = default;
};

}  // namespace titan
