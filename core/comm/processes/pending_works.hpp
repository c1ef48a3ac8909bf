#pragma once

#include <c10/util/intrusive_ptr.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/comm/processes/call_log.hpp"
#include "core/comm/timed_work.hpp"

namespace titan::comm {

/// The works of this process that have not ended: they all fail together. Thread-safe.
class PendingWorks {
 public:
  explicit PendingWorks(std::int64_t rank) : rank_(rank) {}

  /// Says of which call the next work is.
  void announce(const WorkRecord& record);
  /// Makes a work. PeerError when they have failed, or a rank that the call needs has left the run.
  c10::intrusive_ptr<TimedWork> add();
  /// Takes a work of the announced call.
  void add(c10::intrusive_ptr<TimedWork> work);
  /// Throws what add() would.
  void check() const;
  WorkRecord announced() const;
  /// Says whom tell_late() tells, or nobody; waits until a telling under way has ended.
  using OnLate = std::function<TimedWork::Clock::time_point(const WorkRecord& record)>;
  void on_late(OnLate handler);
  /// [any thread] A call on a device is not done in time. Gives the time it has from now on; one that has passed: the
  /// run is given up.
  TimedWork::Clock::time_point tell_late(const WorkRecord& record);
  /// A rank has left after these calls: works that it has not taken part in fail.
  void leave(std::int64_t rank, CallHistory history);
  /// Whether a work's failure is that of leave(), and says all there is to say.
  bool explains(const std::string& failure) const;
  /// Fails all works, now and later. The first reason counts; false: it was not the first.
  bool fail(const std::string& reason);
  /// As fail(), but leaves the works under way to a fail() that comes soon.
  bool fail_later_ones(const std::string& reason);
  /// [any thread] Fails the works under way, but none that come later.
  void fail_pending(const std::string& text);
  /// The first call of that call's stream that is not done, or has failed: its sequence number; else the call's own.
  std::uint64_t first_undone(const WorkRecord& record) const;
  /// Whether calls are under way.
  bool any() const;
  /// The reason; empty: none yet.
  std::string failure() const;

 private:
  struct Entry {
    c10::intrusive_ptr<TimedWork> work;
    WorkRecord record;
  };
  /// Why the call cannot be done; empty: it can.
  std::string lacks(const WorkRecord& record, std::int64_t leaver, const CallHistory& history) const;

  void check_locked() const;
  /// Forgets works that have ended.
  void sweep_locked();

  std::int64_t rank_;
  std::mutex late_mutex_;
  OnLate late_;
  mutable std::mutex mutex_;
  std::string failure_;
  WorkRecord announced_;
  std::vector<Entry> works_;
  std::vector<WorkRecord> failed_;
  std::map<std::int64_t, CallHistory> left_;
  std::set<std::string> explanations_;
};

}  // namespace titan::comm
