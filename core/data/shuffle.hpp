#pragma once

#include <cstdint>
#include <vector>

namespace titan::data {

/// The order in which a virtual shard hands out its documents in one epoch: a permutation of 0 .. count - 1 that
/// depends on the arguments alone. count < 2^32.
std::vector<std::uint32_t> shuffled_order(std::uint64_t count, std::uint64_t seed, std::uint64_t epoch,
                                          std::uint64_t shard);

}  // namespace titan::data
