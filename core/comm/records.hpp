#pragma once

#include <c10/core/ScalarType.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace titan::comm {

enum class WorkState { scheduled, started, completed, failed };

/// What is known of one call of a collective. Times are of the monotonic clock, in nanoseconds; 0: not yet.
struct WorkRecord {
  std::uint64_t id = 0;        // of the rank, from 1
  std::string op;              // PyTorch's name: "all_reduce", "_allgather_base"
  std::string group;           // the name it was called under: "fsdp"
  std::string channel;         // tells groups of the run apart: "dp_shard/dp_replicate1"
  std::string module;          // whose call; empty: none
  std::uint64_t sequence = 0;  // in its channel, from 1; of sends and receives: between the pair
  bool is_p2p = false;
  std::int64_t peer = -1;             // global rank, of sends and receives
  std::vector<std::int64_t> members;  // global ranks of the group
  std::vector<std::int64_t> input_sizes, output_sizes;
  at::ScalarType dtype = at::ScalarType::Undefined;
  std::int64_t input_bytes = 0, output_bytes = 0;
  WorkState state = WorkState::scheduled;
  std::int64_t created = 0, started = 0, completed = 0;
  std::int64_t created_epoch = 0;  // nanoseconds since 1970, for readers that want dates
  std::int64_t timeout_ms = 0;
  bool retired = false;  // waited for
};

/// The last records of one rank: a ring. Thread-safe.
class Recorder {
 public:
  explicit Recorder(std::size_t capacity = 20000);

  /// Changes the capacity, 1 at least.
  void set_capacity(std::size_t capacity);
  /// Appends a record, gives it its id, and forgets the oldest beyond the capacity.
  std::uint64_t add(WorkRecord record);
  /// Changes a record that is still in the ring.
  void update(std::uint64_t id, const std::function<void(WorkRecord&)>& change);
  /// Copies what is in the ring, oldest first.
  std::vector<WorkRecord> snapshot() const;
  /// Number of records ever added.
  std::uint64_t count() const;

  /// Called on the waiting thread after each wait, with the finished record. Set before the first call.
  std::function<void(const WorkRecord&)> on_retired;

 private:
  mutable std::mutex mutex_;
  std::size_t capacity_;
  std::uint64_t next_ = 1;
  std::deque<WorkRecord> ring_;
};

}  // namespace titan::comm
