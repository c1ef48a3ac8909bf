#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace titan {

/// Reads a whole regular file. InputError when it cannot be opened, DataError when it is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Replaces a file in one step: temporary file beside it, fsync, rename. Mode 0600. CreateError or IoError.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Makes a folder and its parents, mode 0700. CreateError names the path and the reason.
void create_folder(const std::filesystem::path& path);

}  // namespace titan
