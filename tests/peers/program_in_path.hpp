#pragma once

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>

namespace titan::test {

/// The program of that name in the first folder of PATH that has one; empty when none has.
inline std::filesystem::path program_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path program = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::exists(program, ignored)) return program;
  }
  return {};
}

}  // namespace titan::test
