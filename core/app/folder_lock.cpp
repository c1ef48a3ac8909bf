#include "core/app/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/log.hpp"

namespace titan::app {
namespace {

constexpr const char* kFile = ".lock";
constexpr const char* kVariable = "TITAN_DUMP_FOLDER_LOCKED";

std::string reason(int error) { return std::generic_category().message(error); }

/// "process 123 on host": who I am.
std::string own_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return concat("process ", ::getpid(), " on ", host.data());
}

std::string holder_of(int descriptor) {
  std::array<char, 256> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  return got > 0 ? printable(std::string_view(text.data(), static_cast<std::size_t>(got))) : "another process";
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view option) {
  const std::filesystem::path path = folder / kFile;
  file_ = open_descriptor(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
  const int error = file_.is_open() ? 0 : errno;
  if (error == ELOOP) throw TrustError("[run] the lock file is a link, it is not followed: ", printable(path.native()));
  if (error != 0) {
    throw CreateError("[run] cannot create the lock file: ", printable(path.native()), ": ", reason(error));
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      throw CreateError("[run] another run writes to the folder: ", printable(folder.native()), ", locked by ",
                        holder_of(file_.get()), ": choose another with --", option);
    }
    log_warning("run", "a folder cannot be locked, another run may write to it too: ", printable(folder.native()), ": ",
                reason(errno));
    return;
  }
  const std::string name = own_name();
  // The text is for people; the lock counts.
  if (::ftruncate(file_.get(), 0) == 0) static_cast<void>(write_all(file_.get(), name));
}

RunLocks lock_run_folders(const config::Config& config) {
  const std::filesystem::path dump = config.string("dump_folder");
  RunLocks locks{FolderLock(dump, "dump_folder"), FolderLock()};
  const bool saves = config.boolean("checkpoint.enable") && !config.boolean("checkpoint.load_only");
  const std::filesystem::path checkpoints = dump / config.string("checkpoint.folder");
  const std::filesystem::path within = checkpoints.lexically_normal().lexically_relative(dump.lexically_normal());
  if (!saves || (!within.empty() && *within.begin() != "..")) return locks;
  create_folder(checkpoints);
  locks.checkpoints = FolderLock(checkpoints, "checkpoint.folder");
  return locks;
}

void announce_locked_folder() { ::setenv(kVariable, "1", 1); }

bool folder_is_locked_for_us() {
  const char* value = std::getenv(kVariable);
  return value != nullptr && *value != '\0';
}

}  // namespace titan::app
