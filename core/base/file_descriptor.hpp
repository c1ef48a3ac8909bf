#pragma once

#include <string_view>
#include <utility>

namespace titan {

/// Owns an open file descriptor; -1 when none is open.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  int get() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// Opens as open(2) does, always with O_CLOEXEC, and again when a signal interrupts. Leaves errno set on failure.
FileDescriptor open_descriptor(const char* path, int flags, unsigned mode = 0);

/// Writes everything, over signals and short writes. Returns 0 or the errno of the failure.
int write_all(int descriptor, std::string_view bytes);

}  // namespace titan
