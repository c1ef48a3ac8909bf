#include "core/checkpoint/output_file.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"

namespace titan::checkpoint {
namespace {

// A write of 2 GiB and more is cut short by the kernel.
constexpr std::size_t kMostBytesAWrite = std::size_t{256} << 20U;

int create(SystemCalls& calls, const std::filesystem::path& path) {
  int descriptor = -1;
  do {
    descriptor = calls.open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor >= 0) return descriptor;
  throw CreateError("[checkpoint] cannot create file: ", printable(path.native()), ": ",
                    std::generic_category().message(errno));
}

}  // namespace

OutputFile::OutputFile(SystemCalls& calls, std::filesystem::path path, std::uint64_t size)
    : calls_(calls), path_(std::move(path)), size_(size), descriptor_(create(calls, path_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) calls_.close(descriptor_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = calls_.write(descriptor_, bytes.data(), std::min(bytes.size(), kMostBytesAWrite));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    if (done == 0) fail(EIO);
    written_ += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void OutputFile::finish() {
  int failed = 0;
  do {
    failed = calls_.fsync(descriptor_) == 0 ? 0 : errno;
  } while (failed == EINTR);
  // Not to be closed again whatever close() says: the number may be somebody else's by then.
  const int descriptor = std::exchange(descriptor_, -1);
  if (calls_.close(descriptor) != 0 && failed == 0 && errno != EINTR) failed = errno;
  if (failed != 0) fail(failed);
}

void OutputFile::fail(int error) const {
  const std::string shown = printable(path_.native());
  struct statvfs space {};
  if ((error == ENOSPC || error == EDQUOT) && ::statvfs(path_.parent_path().c_str(), &space) == 0) {
    const std::uint64_t available = std::uint64_t{space.f_bavail} * space.f_frsize;
    throw IoError("[checkpoint] out of space: need ", size_ - std::min(size_, written_), " bytes more, have ",
                  available, ": ", shown);
  }
  throw IoError("[checkpoint] cannot write file: ", shown, ": ", std::generic_category().message(error));
}

}  // namespace titan::checkpoint
