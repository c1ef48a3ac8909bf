#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "core/comm/records.hpp"

namespace titan::comm {

/// Nanoseconds of the monotonic clock.
std::int64_t monotonic_nanoseconds();

/// A work that tells what it is doing and when that began, whatever carries it out. Thread-safe.
class TimedWork : public c10d::Work {
 public:
  using Clock = std::chrono::steady_clock;
  /// Called with a new state and its time, under the work's lock.
  using Watcher = std::function<void(WorkState state, std::int64_t nanoseconds)>;

  /// Says that the ranks work on it now.
  void begin();
  /// Ends it. Only the first end counts.
  void complete();
  /// Ends it with an error; `text` says why.
  void fail(const std::string& text);
  /// Ends it with an exception of this rank's own work on it.
  void fail(const std::exception_ptr& error);

  /// Waits for the end. False: the deadline passed.
  bool wait_until(Clock::time_point deadline);
  /// Waits until the outputs may be used. On a device that is before the end: its stream waits then.
  virtual bool join(Clock::time_point deadline) { return wait_until(deadline); }
  /// Why it failed; empty: it did not.
  std::string failure() const;
  /// Whether it failed because this process has no memory left, whatever others do.
  bool is_out_of_memory() const;
  /// Tells `watcher` what has happened so far and what happens from now on; null: nobody.
  void watch(Watcher watcher);

  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  bool isSuccess() const override;

 private:
  void end(WorkState state, const std::string& text, bool is_out_of_memory = false);

  Watcher watcher_;
  std::string failure_;
  bool is_out_of_memory_ = false;
  std::int64_t started_ = 0, ended_ = 0;
};

}  // namespace titan::comm
