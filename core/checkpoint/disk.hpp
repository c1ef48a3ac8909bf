#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

// Steps on the disk that last, or fail with a reason. [any thread]

/// What an errno means.
std::string reason_of(int error);
/// Throws that a folder cannot be made: IoError when the disk is full or broken, else CreateError.
[[noreturn]] void fail_to_create_folder(const std::filesystem::path& path, int error);

/// A name nobody else draws: 32 hexadecimal digits.
std::string draw_id();

/// Whether there is a folder at the path itself; a link to one is none.
bool is_real_folder(const std::filesystem::path& path);
/// Whether there is anything at the path, a dangling link too.
bool is_taken(const std::filesystem::path& path);
/// The names in a folder, sorted. InputError when it cannot be listed.
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// Makes a file as OutputFile does, and removes it again when it cannot be written. CreateError or IoError.
void write_new_file(SystemCalls& calls, const std::filesystem::path& path, std::string_view content);
/// Makes what was made, renamed or removed in a folder last. IoError; a file system that cannot sync folders is fine.
void sync_folder(SystemCalls& calls, const std::filesystem::path& folder);
/// Removes a folder with all it holds; links are removed, not followed. Goes on after a failure. Returns 0 or the first
/// failure's errno.
int remove_folder(SystemCalls& calls, const std::filesystem::path& folder);

}  // namespace titan::checkpoint
