#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace titan {

/// A folder of its own below the system's for temporary files, gone with the object and all it holds.
class TemporaryFolder {
 public:
  /// std::system_error when it cannot be made.
  TemporaryFolder() : TemporaryFolder(std::filesystem::temp_directory_path()) {}
  /// The same below another folder.
  explicit TemporaryFolder(const std::filesystem::path& parent) {
    std::string name = (parent / "titan_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace titan
