#include "core/checkpoint/cancelable_calls.hpp"

#include <cerrno>

namespace titan::checkpoint {

namespace {

int fail_as_canceled() {
  errno = ECANCELED;
  return -1;
}

}  // namespace

int CancelableCalls::open(const char* path, int flags, unsigned mode) {
  return is_canceled_ ? fail_as_canceled() : calls_.open(path, flags, mode);
}

ssize_t CancelableCalls::write(int descriptor, const void* bytes, std::size_t size) {
  return is_canceled_ ? fail_as_canceled() : calls_.write(descriptor, bytes, size);
}

int CancelableCalls::fsync(int descriptor) { return is_canceled_ ? fail_as_canceled() : calls_.fsync(descriptor); }

int CancelableCalls::close(int descriptor) { return calls_.close(descriptor); }

int CancelableCalls::mkdir(const char* path, unsigned mode) { return calls_.mkdir(path, mode); }

int CancelableCalls::rename(const char* from, const char* to) { return calls_.rename(from, to); }

int CancelableCalls::unlink(const char* path) { return calls_.unlink(path); }

int CancelableCalls::rmdir(const char* path) { return calls_.rmdir(path); }

}  // namespace titan::checkpoint
