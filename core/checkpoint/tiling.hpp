#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/source.hpp"

namespace titan::checkpoint {

/// Says why the boxes of the parts do not hold every element of a tensor exactly once; empty when they do. Takes time
/// and memory in proportion to the parts, however they lie: nobody vouches for them.
std::string tiling_fault(const std::vector<std::int64_t>& shape, std::span<const StoredPart> parts);

}  // namespace titan::checkpoint
