#include "core/checkpoint/system_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace titan::checkpoint {

int SystemCalls::open(const char* path, int flags, unsigned mode) { return ::open(path, flags, mode); }

ssize_t SystemCalls::write(int descriptor, const void* bytes, std::size_t size) {
  return ::write(descriptor, bytes, size);
}

int SystemCalls::fsync(int descriptor) {
  for (;;) {
    const int done = ::fsync(descriptor);
    // An interrupted one lost nothing, unlike any other that fails.
    if (done == 0 || errno != EINTR) return done;
  }
}

int SystemCalls::close(int descriptor) { return ::close(descriptor); }

int SystemCalls::mkdir(const char* path, unsigned mode) { return ::mkdir(path, mode); }

int SystemCalls::rename(const char* from, const char* to) {
  const int done = ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
  if (done == 0 || (errno != EINVAL && errno != ENOSYS)) return done;
  return ::rename(from, to);
}

int SystemCalls::unlink(const char* path) { return ::unlink(path); }

int SystemCalls::rmdir(const char* path) { return ::rmdir(path); }

SystemCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace titan::checkpoint
