#include "plugins/observability/profiler/raw_trace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path, int error) {
  throw std::system_error(error, std::generic_category(), sdk::concat(action, ": ", path.native()));
}

/// Adds a block to the file; 0 or why not.
int add_block(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return errno;
  constexpr std::array<char, 4096> kBlock{};
  const ssize_t written = ::write(file, kBlock.data(), kBlock.size());
  int error = written < 0 ? errno : written < static_cast<ssize_t>(kBlock.size()) ? ENOSPC : 0;
  if (error == 0 && ::fsync(file) != 0) error = errno;
  ::close(file);
  return error;
}

}  // namespace

RawTrace::RawTrace(std::filesystem::path path) : path_(std::move(path)), kinetos_(path_) {
  kinetos_ += ".tmp";
  // Of a process that was killed and had this one's number.
  ::unlink(kinetos_.c_str());
  const int file = ::open(kinetos_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) fail("cannot create", kinetos_, errno);
  ::close(file);
}

RawTrace::~RawTrace() {
  ::unlink(path_.c_str());
  ::unlink(kinetos_.c_str());
}

void RawTrace::require_space() const {
  std::error_code ignored;
  const bool is_done = std::filesystem::exists(path_, ignored);
  if (const int error = add_block(is_done ? path_ : kinetos_); error != 0) fail("cannot write", path_, error);
}

}  // namespace titan::observability
