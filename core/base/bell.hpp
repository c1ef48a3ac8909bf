#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace titan {

/// Wakes whoever listens. Each listener hears each ring, one that comes before anybody listens too.
class Bell {
 public:
  /// One who listens; used by one thread, but for end().
  class Listener {
   public:
    explicit Listener(Bell& bell) : bell_(bell), heard_(bell.heard_.load()) {}
    ~Listener() {
      std::uint32_t before = bell_.heard_.load();
      while (before < heard_ && !bell_.heard_.compare_exchange_weak(before, heard_)) {
      }
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Waits for the next ring. False: end() was called.
    bool wait() noexcept {
      for (;;) {
        const std::uint32_t changes = bell_.changes_.load();
        if (ends_) return false;
        if (heard_ != bell_.rings_.load()) {
          ++heard_;
          return true;
        }
        ::syscall(SYS_futex, &bell_.changes_, FUTEX_WAIT_PRIVATE, changes, nullptr, nullptr, 0);
      }
    }
    /// [any thread] Makes wait() return.
    void end() noexcept {
      ends_ = true;
      bell_.stir();
    }

   private:
    Bell& bell_;
    std::uint32_t heard_;
    std::atomic<bool> ends_{false};
  };

  /// [any thread] Async-signal-safe.
  void ring() noexcept {
    rings_.fetch_add(1);
    stir();
  }

 private:
  void stir() noexcept {
    changes_.fetch_add(1);
    ::syscall(SYS_futex, &changes_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> changes_{0};  // what listeners sleep on
  std::atomic<std::uint32_t> heard_{0};    // by those who listen no more
};

}  // namespace titan
