#pragma once

#include <atomic>

#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

/// Another's system calls until they are canceled: then files can be neither made nor written nor synced (ECANCELED).
class CancelableCalls final : public SystemCalls {
 public:
  explicit CancelableCalls(SystemCalls& calls) : calls_(calls) {}

  /// [any thread]
  void cancel(bool is_canceled) { is_canceled_ = is_canceled; }
  bool is_canceled() const { return is_canceled_; }

  int open(const char* path, int flags, unsigned mode) override;
  ssize_t write(int descriptor, const void* bytes, std::size_t size) override;
  int fsync(int descriptor) override;
  int close(int descriptor) override;
  int mkdir(const char* path, unsigned mode) override;
  int rename(const char* from, const char* to) override;
  int unlink(const char* path) override;
  int rmdir(const char* path) override;

 private:
  SystemCalls& calls_;
  std::atomic<bool> is_canceled_ = false;
};

}  // namespace titan::checkpoint
