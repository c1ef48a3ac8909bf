#pragma once

#include <filesystem>

#include "core/base/file_descriptor.hpp"

namespace titan::app {

/// Keeps a dump folder to one run, by a lock on the file `.lock` in it, which ends with this object or the process.
class FolderLock {
 public:
  /// Locks nothing.
  FolderLock() = default;
  /// CreateError, naming process and machine, when another run has the folder. A file system that knows no locks gives
  /// a warning.
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileDescriptor file_;
};

/// Tells the programs that this one starts that it has locked the dump folder for them.
void announce_locked_folder();
/// Whether the program that started this one has.
bool folder_is_locked_for_us();

}  // namespace titan::app
