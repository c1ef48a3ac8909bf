#include "core/base/file_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace titan {

FileDescriptor::~FileDescriptor() {
  if (is_open()) ::close(descriptor_);
}

FileDescriptor open_descriptor(const char* path, int flags, unsigned mode) {
  int descriptor = -1;
  do {
    descriptor = ::open(path, flags | O_CLOEXEC, static_cast<mode_t>(mode));
  } while (descriptor < 0 && errno == EINTR);
  return FileDescriptor(descriptor);
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace titan
