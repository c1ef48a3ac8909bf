#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/file_descriptor.hpp"

namespace titan {

/// Reads a whole regular file. InputError when it cannot be opened or is a folder, fifo or device; DataError when it is
/// larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit);

/// Reads a regular file of any size, a mebibyte at a time. InputError when it cannot be opened, IoError when reading
/// fails.
void read_file_in_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& piece);

/// A regular file that is read once, from its beginning to its end.
class FileReader {
 public:
  /// InputError when it cannot be opened or is a folder, fifo or device.
  explicit FileReader(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Bytes of the file when it was opened.
  std::uint64_t size() const { return size_; }
  /// Reads `size` bytes at most; returns 0 at the end of the file. IoError.
  std::size_t read(char* buffer, std::size_t size) const;

 private:
  std::filesystem::path path_;
  std::uint64_t size_ = 0;
  FileDescriptor file_;  // sets the size when it is opened
};

/// Replaces a file in one step: temporary file beside it, fsync, rename. Mode 0600. CreateError or IoError.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Makes a folder and its parents, mode 0700. CreateError names the path and the reason.
void create_folder(const std::filesystem::path& path);

}  // namespace titan
