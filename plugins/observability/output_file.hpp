#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace titan::observability {

/// Makes a folder that is missing, and those above it, mode 0700. The folder itself must be no symbolic link, which
/// another may have put there. Errors are std::system_error.
void make_private_folders(const std::filesystem::path& folder);

/// A file that is there as a whole or not at all: a temporary file beside it, mode 0600, that finish() renames. What it
/// replaces stays until then. A folder that is missing is made, mode 0700. One thread. Errors are std::system_error
/// with the path in their text.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  /// Removes the temporary file, if finish() was not called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view bytes);
  /// Writes what is buffered and gives the file its name.
  void finish();

 private:
  void flush();

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace titan::observability
