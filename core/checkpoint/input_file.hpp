#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/file_descriptor.hpp"

namespace titan::checkpoint {

/// A file of a checkpoint, opened to be read: a regular one, and no link. Reads leave no position behind: any thread.
class InputFile {
 public:
  /// InputError: it cannot be opened; DataError: a link, a folder, a fifo or a device.
  explicit InputFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Bytes of the file when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fills `bytes` from `offset` on. DataError: the file ends before; IoError: reading failed.
  void read_at(std::uint64_t offset, std::span<char> bytes) const;
  /// The whole file. DataError: it has more than `limit` bytes.
  std::string read_all(std::uint64_t limit) const;
  /// Of the open file, for calls of the system; not to be closed.
  int descriptor() const { return file_.get(); }

 private:
  /// What opening gave: a descriptor, or an error of the system.
  struct Opened {
    FileDescriptor file;
    int error;
  };
  static Opened open(const std::filesystem::path& path);
  InputFile(const std::filesystem::path& path, Opened opened);
  friend InputFile open_patiently(const std::filesystem::path& path);

  std::filesystem::path path_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
};

/// Opens a file that ought to be there: tries for about a second while there is none (ENOENT, ESTALE), because a shared
/// file system may show it late. Errors as above.
InputFile open_patiently(const std::filesystem::path& path);

}  // namespace titan::checkpoint
