#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/checkpoint/shard.hpp"

namespace titan::checkpoint {

/// Writes the shard file's bytes from `begin` on to `out`; elements are converted on the way. `begin` and the end of
/// `out` lie between elements, as multiples of 8 and the file's end do.
void copy_shard_bytes(const ShardLayout& layout, std::uint64_t begin, std::span<std::byte> out);

}  // namespace titan::checkpoint
