#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/checkpoint/manifest.hpp"

namespace titan::checkpoint {

/// A step's manifest, and the files that it lists.
class ListedFiles {
 public:
  /// Reads the manifest of a folder. Its step must be that of the folder's name, if that is of a step, and every listed
  /// file must be there, a regular one of its size; warns of others. DataError names the file; InputError: no manifest.
  explicit ListedFiles(const std::filesystem::path& folder);
  ListedFiles(const ListedFiles&) = delete;
  ListedFiles& operator=(const ListedFiles&) = delete;

  const Manifest& manifest() const { return manifest_; }
  /// Null: the manifest does not list it.
  const ManifestFile* find(std::string_view name) const;
  /// Reads a small file whose content must be what was committed. DataError: it is not, the manifest does not list the
  /// file, or it has more than `limit` bytes.
  std::string read(const char* name, std::uint64_t limit) const;

 private:
  std::filesystem::path folder_;
  Manifest manifest_;
  std::map<std::string_view, const ManifestFile*> files_;  // by name
};

}  // namespace titan::checkpoint
