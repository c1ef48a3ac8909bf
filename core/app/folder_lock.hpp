#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/file_descriptor.hpp"
#include "core/config/config.hpp"

namespace titan::app {

/// Keeps a folder to one run, by a lock on the file `.lock` in it, which ends with this object or the process.
class FolderLock {
 public:
  /// Locks nothing.
  FolderLock() = default;
  /// CreateError, naming process and machine, when another run has the folder that `option` names ("dump_folder"). A
  /// file system that knows no locks gives a warning.
  FolderLock(const std::filesystem::path& folder, std::string_view option);

 private:
  FileDescriptor file_;
};

/// Locks the folders that the run of the configuration writes to: the dump folder, which exists, and the folder of its
/// checkpoints where that is elsewhere, which is made. Errors as FolderLock.
struct RunLocks {
  FolderLock dump, checkpoints;
};
RunLocks lock_run_folders(const config::Config& config);

/// Tells the programs that this one starts that it has locked the dump folder for them.
void announce_locked_folder();
/// Whether the program that started this one has.
bool folder_is_locked_for_us();

}  // namespace titan::app
