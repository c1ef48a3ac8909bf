#pragma once

#include <semaphore.h>

#include <cerrno>

namespace titan {

/// Wakes a thread that waits for it; each ring once.
class Bell {
 public:
  Bell() { ::sem_init(&count_, 0, 0); }
  ~Bell() { ::sem_destroy(&count_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// [any thread] Async-signal-safe.
  void ring() noexcept { ::sem_post(&count_); }
  void wait() noexcept {
    while (::sem_wait(&count_) != 0 && errno == EINTR) {
    }
  }

 private:
  sem_t count_;
};

}  // namespace titan
