#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace titan::data {

/// Decompresses a gzip file, members one after another, and calls `piece` with up to a mebibyte of content at a time.
/// InputError when the file cannot be read; DataError when it is no gzip stream, damaged or cut.
void gunzip_in_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& piece);

}  // namespace titan::data
