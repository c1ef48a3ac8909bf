#pragma once

#include <sys/types.h>

#include <cstddef>

namespace titan::checkpoint {

/// The system calls through which a checkpoint reaches the disk. Each returns what the call of that name returns, and
/// sets errno. Any thread. Tests put faults in their place.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  virtual int open(const char* path, int flags, unsigned mode);
  virtual ssize_t write(int descriptor, const void* bytes, std::size_t size);
  virtual int fsync(int descriptor);
  virtual int close(int descriptor);
  virtual int mkdir(const char* path, unsigned mode);
  /// renameat2() with RENAME_NOREPLACE, or rename() where the file system does not know it: nothing is replaced.
  virtual int rename(const char* from, const char* to);
  virtual int unlink(const char* path);
  virtual int rmdir(const char* path);
};

/// The machine's own.
SystemCalls& system_calls();

}  // namespace titan::checkpoint
