#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace titan::benchmark {

// The baselines: one thread that writes or reads a file past the page cache, 8 MiB at a time, and does nothing else.

/// Says whether the folder's file system has O_DIRECT.
bool has_direct_io(const std::filesystem::path& folder);
/// Writes and syncs a new file of whole pages from aligned memory.
void write_raw(const std::filesystem::path& path, std::span<const std::byte> bytes);
/// Reads a file into aligned memory of its size, rounded up to whole pages.
void read_raw(const std::filesystem::path& path, std::span<std::byte> bytes);

}  // namespace titan::benchmark
