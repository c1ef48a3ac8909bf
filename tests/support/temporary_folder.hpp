#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/base/temporary_folder.hpp"

namespace titan::test {

/// A folder of its own for one test, removed with all it holds.
class TemporaryFolder : public titan::TemporaryFolder {
 public:
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path() / name; }

  /// Writes a file, with the folders it needs, and returns its path.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const {
    const std::filesystem::path file = path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
};

}  // namespace titan::test
