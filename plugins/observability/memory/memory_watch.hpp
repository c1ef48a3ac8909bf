#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plugins/observability/memory/recorder.hpp"
#include "plugins/observability/memory/report_gate.hpp"
#include "plugins/observability/operators/operator_watch.hpp"
#include "titan/abi/memory.h"
#include "titan/sdk/host.hpp"

namespace titan::observability {

/// Names of a tree's modules by their numbers.
using ModuleNames = std::vector<std::string>;

/// Memory that is given back when there is none, so that somebody can still say so.
class MemoryReserve {
 public:
  explicit MemoryReserve(std::size_t bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
  void release();

 private:
  void* memory_;
  std::size_t bytes_;
};

/// What happens when memory is out: the allocation and the place.
struct ShortageEvent {
  std::uint64_t asked = 0;
  Where where;
  /// The rank's training thread is here, or waits for this one: what the run keeps may be looked at.
  bool knows_state = false;
  std::uint32_t report = 1;  // how many were begun, this one too
};

/// The memory of this process as its ranks' tools watch it together: one recorder, one reserve, and one report.
class MemoryWatch {
 public:
  /// A rank's tool.
  class Member {
   public:
    virtual ~Member() = default;
    /// Memory is out, on this rank's training thread or, of the first member, on a thread that is nobody's. Called
    /// before anything is unwound, once for each that is worth a report, one at a time.
    virtual void out_of_memory(const ShortageEvent& event) noexcept = 0;
    /// [any thread] Where the rank is.
    virtual titan_place place() const noexcept = 0;
  };
  struct Recording {
    std::size_t max_entries;
    bool stacks;
  };

  /// The process's watch, made by the first that joins and gone with the last. The first that wants a recording makes
  /// it. Throws HostError and sdk::Error.
  static std::shared_ptr<MemoryWatch> join(sdk::Host host, Member& member, const std::optional<Recording>& recording);
  /// Waits for a report that the member makes.
  void leave(const Member& member) noexcept;
  /// The calling thread is the member's training thread, and runs a tree with these modules.
  void adopt_thread(const Member& member, std::shared_ptr<const ModuleNames> modules);

  explicit MemoryWatch(const titan_memory_v1* memory);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Null where nothing is recorded.
  const Recorder* recorder() const { return recorder_.get(); }
  titan_memory_counters counters() const;
  /// Bytes that could still be had.
  std::uint64_t rest() const;
  /// Where the calling thread is; in an operator's parallel part where the thread is that it works for. Texts are
  /// valid as long as that thread's run.
  Where here() const;

 private:
  struct Seat {
    Member* member = nullptr;
    // Known from adopt_thread on.
    std::thread::id thread;
    std::shared_ptr<const ThreadActivity> activity;
    std::shared_ptr<const ModuleNames> modules;
  };

  void record(const Recording& recording);
  void note(const titan_memory_event& event) noexcept;
  void tell_of_shortage(std::uint64_t asked) noexcept;
  void report(ShortageEvent event);
  /// The member of the calling thread, of one that is nobody's the first; it cannot leave until end_report(). May be
  /// null.
  Member* begin_report(bool& knows_state);
  void end_report();
  /// What here() says, or no place where there is no memory to find it.
  Where here_if_possible() const noexcept;
  /// Whom threads that are nobody's work for: under the lock. Null where that is not clear.
  const Seat* only_seat() const;

  const titan_memory_v1* memory_;
  titan_memory_listener events_{}, shortages_{};
  MemoryReserve reserve_;
  ReportGate gate_;
  mutable std::mutex mutex_;
  const Member* reporting_ = nullptr;
  std::condition_variable reported_;
  std::vector<Seat> seats_;
  std::optional<OperatorWatch> operators_;
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace titan::observability
