#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace titan {

/// XXH3 of the bytes, 64 bits.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

/// XXH3 of the bytes, 128 bits, as 32 hexadecimal digits.
std::string hash128(std::string_view bytes);

/// hash128 of a file's content, streamed. InputError when it cannot be read.
std::string hash128_file(const std::filesystem::path& path);

}  // namespace titan
