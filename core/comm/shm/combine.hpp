#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/comm/group.hpp"

namespace titan::comm::shm {

/// Reduces arrays of n elements, from the first to the last, with the bits that reduced() gives: out = in[0] op in[1]
/// op ... . `out` may be one of them. Does not touch autograd.
void combine(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t n, at::ScalarType dtype, Reduce op);

}  // namespace titan::comm::shm
