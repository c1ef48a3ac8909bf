#include "plugins/observability/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18U;

[[noreturn]] void fail(const char* action, const std::filesystem::path& path, int error) {
  throw std::system_error(error, std::generic_category(), sdk::concat(action, ": ", path.native()));
}

/// Readers of a folder take files by their ends: a temporary file must not look like one of theirs.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> count{0};
  return path.parent_path() /
         sdk::concat('.', path.filename().native(), '.', static_cast<std::int64_t>(::getpid()), '-', ++count, ".tmp");
}

void make_folders(const std::filesystem::path& folder) {
  if (folder.empty() || ::mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST) return;
  if (errno != ENOENT || !folder.has_relative_path()) fail("cannot create folder", folder, errno);
  make_folders(folder.parent_path());
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) fail("cannot create folder", folder, errno);
}

int create_file(const std::filesystem::path& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  return ::open(path.c_str(), kFlags, S_IRUSR | S_IWUSR);
}

}  // namespace

void make_private_folders(const std::filesystem::path& folder) {
  make_folders(folder);
  struct stat status {};
  if (::lstat(folder.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    fail("a link is no folder to write to", folder, ELOOP);
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)), temporary_(temporary_name(path_)) {
  make_private_folders(path_.parent_path());
  descriptor_ = create_file(temporary_);
  // A process that was killed leaves its file, and a container gives its number again.
  if (descriptor_ < 0 && errno == EEXIST && ::unlink(temporary_.c_str()) == 0) descriptor_ = create_file(temporary_);
  if (descriptor_ < 0) fail("cannot create", path_, errno);
  buffer_.reserve(kBufferBytes);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  buffer_.append(bytes);
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  for (std::string_view rest = buffer_; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot write", path_, written < 0 ? errno : ENOSPC);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void OutputFile::finish() {
  flush();
  // Some file systems tell of a full disk only here.
  const int error = ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
  if (error == 0 && std::rename(temporary_.c_str(), path_.c_str()) == 0) return;
  const int reason = error != 0 ? error : errno;
  ::unlink(temporary_.c_str());
  fail("cannot write", path_, reason);
}

}  // namespace titan::observability
