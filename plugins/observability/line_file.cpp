#include "plugins/observability/line_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace titan::observability {
namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path, int error) {
  throw std::system_error(error, std::generic_category(), std::string(action) + ": " + path.string());
}

bool is_there(const std::filesystem::path& path) {
  return std::filesystem::exists(std::filesystem::symlink_status(path));
}

/// False when `target` exists. link() and not rename(), which would overwrite.
bool rename_to_free(const std::filesystem::path& path, const std::filesystem::path& target) {
  if (::link(path.c_str(), target.c_str()) == 0) {
    if (::unlink(path.c_str()) != 0) fail("cannot remove", path, errno);
    return true;
  }
  if (errno == EEXIST) return false;
  if (is_there(target)) return false;
  // A file system without hard links.
  if (::rename(path.c_str(), target.c_str()) != 0) fail("cannot move aside", path, errno);
  return true;
}

void move_aside(const std::filesystem::path& path) {
  for (std::uint64_t number = 1;; ++number) {
    std::filesystem::path target = path;
    target.replace_filename(path.stem().string() + '.' + std::to_string(number) + path.extension().string());
    if (rename_to_free(path, target)) return;
  }
}

std::int64_t kept_size(const std::filesystem::path& path, const std::function<bool(std::string_view)>& keep) {
  std::ifstream input(path, std::ios::binary);
  std::int64_t size = 0;
  for (std::string line; std::getline(input, line) && !input.eof() && keep(line);) {
    size += static_cast<std::int64_t>(line.size()) + 1;
  }
  return size;
}

}  // namespace

LineFile LineFile::begin(const std::filesystem::path& path) {
  if (is_there(path)) move_aside(path);
  return LineFile(path);
}

LineFile LineFile::resume(const std::filesystem::path& path, const std::function<bool(std::string_view)>& keep) {
  LineFile file(path);
  if (!is_there(path)) return file;
  file.open(0);
  file.size_ = kept_size(path, keep);
  if (::ftruncate(file.descriptor_, file.size_) != 0) fail("cannot shorten", path, errno);
  return file;
}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

LineFile::~LineFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineFile::open(int flags) {
  constexpr int kAlways = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  descriptor_ = ::open(path_.c_str(), kAlways | flags, S_IRUSR | S_IWUSR);
  if (descriptor_ < 0) fail("cannot open", path_, errno);
}

void LineFile::append(std::string_view line) {
  if (descriptor_ < 0) open(O_CREAT | O_EXCL);
  ssize_t written = 0;
  do {
    written = ::write(descriptor_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) {
    size_ += written;
    return;
  }
  const int error = written < 0 ? errno : ENOSPC;
  // Part of a line would make the whole file unreadable for strict readers; nothing more can be done if this fails.
  if (::ftruncate(descriptor_, size_) != 0) fail("cannot write, and an incomplete line stays in", path_, error);
  fail("cannot write", path_, error);
}

void LineFile::withdraw(std::size_t bytes) {
  const std::int64_t left = size_ - static_cast<std::int64_t>(bytes);
  if (::ftruncate(descriptor_, left) != 0) fail("cannot shorten", path_, errno);
  size_ = left;
}

}  // namespace titan::observability
