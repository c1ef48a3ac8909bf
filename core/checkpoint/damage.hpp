#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/checkpoint/runs.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::checkpoint {

/// Says whether the bytes of a block have the hash that the file's index has for it.
bool is_block_right(const StoredFile& file, std::uint64_t block, std::span<const std::byte> bytes);

/// The tensors that have bytes in a range of a file, for an error: "in layers.0.w1.weight, layers.0.w2.weight"; "in the
/// header" when there are none.
std::string place_of(const Source& source, std::uint32_t file, const FileRange& range);

}  // namespace titan::checkpoint
