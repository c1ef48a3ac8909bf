#include "core/checkpoint/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/disk.hpp"

namespace titan::checkpoint {

namespace {

/// What the errno means; out of space: "need X bytes, have Y at FOLDER" too.
std::string reason(int error, std::uint64_t need, const std::filesystem::path& folder) {
  const std::string text = reason_of(error);
  struct statvfs space {};
  if ((error != ENOSPC && error != EDQUOT) || ::statvfs(folder.c_str(), &space) != 0) return text;
  const std::uint64_t have = std::uint64_t{space.f_bavail} * space.f_frsize;
  return concat(text, ": need ", need, " bytes, have ", have, " at ", printable(folder.native()));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

[[noreturn]] void fail_to_create(const std::filesystem::path& path, int error, std::uint64_t size) {
  const std::string text =
      concat("[checkpoint] cannot create file: ", printable(path.native()), ": ", reason(error, size, folder_of(path)));
  if (error == ENOSPC || error == EDQUOT || error == EIO) throw IoError(text);
  throw CreateError(text);
}

int create(SystemCalls& calls, const std::filesystem::path& path, std::uint64_t size) {
  // Without O_DIRECT: a file system that has none makes the file all the same, and then refuses to open it.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
  int descriptor = -1;
  do {
    descriptor = calls.open(path.c_str(), kFlags, 0600);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) fail_to_create(path, errno, size);
  return descriptor;
}

bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kDirectAlignment == 0; }

}  // namespace

OutputFile::OutputFile(SystemCalls& calls, std::filesystem::path path, std::uint64_t size)
    : calls_(calls), path_(std::move(path)), size_(size), descriptor_(create(calls, path_, size)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) calls_.close(descriptor_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t astray = written_ % kDirectAlignment;  // after a short write
    const bool direct = can_direct_ && astray == 0 && bytes.size() >= kDirectAlignment && is_aligned(bytes.data());
    std::uint64_t limit = kPieceSize;
    if (direct) limit = std::min(limit, aligned_down(bytes.size()));
    if (can_direct_ && astray != 0) limit = kDirectAlignment - astray;
    const std::uint64_t before = written_;
    write_some(bytes.first(std::min<std::uint64_t>(limit, bytes.size())), direct);
    bytes = bytes.subspan(written_ - before);
  }
}

void OutputFile::write_some(std::span<const std::byte> bytes, bool direct) {
  set_direct(direct);
  const ssize_t done = calls_.write(descriptor_, bytes.data(), bytes.size());
  if (done > 0) {
    written_ += static_cast<std::uint64_t>(done);
  } else if (done == 0) {
    fail(EIO);
  } else if (errno == EINVAL && is_direct_) {
    can_direct_ = false;  // a file system that takes the flag, and not the writes
  } else if (errno != EINTR) {
    fail(errno);
  }
}

void OutputFile::set_direct(bool direct) {
  if (direct == is_direct_) return;
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags >= 0 && ::fcntl(descriptor_, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0) {
    is_direct_ = direct;
  } else if (direct) {
    can_direct_ = false;
  } else {
    fail(errno);
  }
}

void OutputFile::finish() {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(errno);
  if (static_cast<std::uint64_t>(status.st_size) != written_) {
    throw IoError("[checkpoint] file has another size than what was written: ", printable(path_.native()), ": ",
                  status.st_size, " of ", written_, " bytes");
  }
  const int failed = calls_.fsync(descriptor_) == 0 ? 0 : errno;
  // Not to be closed again whatever close() says: the number may be somebody else's by then.
  const bool is_closed = calls_.close(std::exchange(descriptor_, -1)) == 0 || errno == EINTR;
  if (failed != 0 || !is_closed) fail(failed != 0 ? failed : errno);
}

void OutputFile::fail(int error) const {
  throw IoError("[checkpoint] cannot write file: ", printable(path_.native()), ": ",
                reason(error, size_, folder_of(path_)));
}

}  // namespace titan::checkpoint
