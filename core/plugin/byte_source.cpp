#include "core/plugin/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

bool holds(std::uint64_t size, std::uint64_t offset, std::uint64_t count) {
  return offset <= size && count <= size - offset;
}

[[noreturn]] void throw_unreadable(int error) {
  if (error == ENOENT || error == ENOTDIR) {
    throw LoadProblem(Exit::no_input, "there is no such file", "check the path, or build the plugin first");
  }
  throw LoadProblem(Exit::no_input, concat("the file cannot be read: ", std::strerror(error)),
                    "check its permissions and those of its folder");
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& file) {
  // Non-blocking, so that a named pipe is refused below instead of waited for.
  descriptor_ = open_descriptor(file.c_str(), O_RDONLY | O_NONBLOCK);
  if (!descriptor_.is_open()) throw_unreadable(errno);
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) throw_unreadable(errno);
  if (S_ISDIR(status.st_mode)) {
    throw LoadProblem(Exit::no_input, "it is a folder, not a file",
                      "name the plugin's file, or put the folder into TITAN_PLUGIN_PATH");
  }
  if (!S_ISREG(status.st_mode)) {
    throw LoadProblem(Exit::no_input, "it is not a regular file", "name the plugin's library file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

bool FileBytes::read(std::uint64_t offset, void* to, std::uint64_t count) const {
  if (!holds(size_, offset, count) || count > std::numeric_limits<std::int64_t>::max()) return false;
  auto* out = static_cast<char*>(to);
  while (count > 0) {
    const auto got = ::pread(descriptor_.get(), out, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
  return true;
}

bool MemoryBytes::read(std::uint64_t offset, void* to, std::uint64_t count) const {
  if (!holds(bytes_.size(), offset, count)) return false;
  if (count > 0) std::memcpy(to, bytes_.data() + offset, count);
  return true;
}

}  // namespace titan::plugin
