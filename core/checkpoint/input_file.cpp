#include "core/checkpoint/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"

namespace titan::checkpoint {
namespace {

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

/// A shared file system may show a file late, or give away what it remembered of the one before.
bool may_be_late(int error) { return error == ENOENT || error == ESTALE; }

}  // namespace

InputFile::Opened InputFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a fifo would wait for its writer.
  FileDescriptor file = open_descriptor(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  const int error = file.is_open() ? 0 : errno;
  return {std::move(file), error};
}

InputFile::InputFile(const std::filesystem::path& path) : InputFile(path, open(path)) {}

InputFile::InputFile(const std::filesystem::path& path, Opened opened) : path_(path), file_(std::move(opened.file)) {
  if (opened.error == ELOOP) throw DataError("[checkpoint] links are not followed: ", shown(path));
  if (opened.error != 0) {
    throw InputError("[checkpoint] cannot open file: ", shown(path), ": ", reason_of(opened.error));
  }
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) {
    throw IoError("[checkpoint] cannot stat file: ", shown(path), ": ", reason_of(errno));
  }
  if (!S_ISREG(status.st_mode)) throw DataError("[checkpoint] not a regular file: ", shown(path));
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read_at(std::uint64_t offset, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError("[checkpoint] cannot read file: ", shown(path_), ": ", reason_of(errno));
    if (got == 0) throw DataError("[checkpoint] file is shorter than expected: ", shown(path_), ": ends at ", offset);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

std::string InputFile::read_all(std::uint64_t limit) const {
  if (size_ > limit) {
    throw DataError("[checkpoint] file is larger than allowed: ", shown(path_), ": ", size_, " bytes, limit ", limit);
  }
  std::string content(static_cast<std::size_t>(size_), '\0');
  read_at(0, content);
  return content;
}

InputFile open_patiently(const std::filesystem::path& path) {
  constexpr std::chrono::milliseconds kLongestPause{500};
  InputFile::Opened opened = InputFile::open(path);
  for (std::chrono::milliseconds pause{30}; may_be_late(opened.error) && pause <= kLongestPause; pause *= 2) {
    std::this_thread::sleep_for(pause);
    opened = InputFile::open(path);
  }
  return {path, std::move(opened)};
}

}  // namespace titan::checkpoint
