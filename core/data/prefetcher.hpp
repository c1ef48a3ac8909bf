#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/stop.hpp"
#include "core/data/loader.hpp"
#include "core/data/stream_state.hpp"

namespace titan::data {

/// A batch and where the stream stands after it.
struct PreparedBatch {
  Batch batch;
  StreamPosition position;
};

/// Makes batches ahead on a thread of its own, a bounded number of them. next() is called by one thread.
class Prefetcher {
 public:
  using Produce = std::function<std::optional<PreparedBatch>()>;

  /// Starts to call `produce`, which from then on belongs to the prefetcher's thread.
  Prefetcher(Produce produce, std::size_t capacity, const StopFlag* stop);
  /// Waits for the batch in progress.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The next batch; none at the end, however often it is asked for. Throws what `produce` threw, behind the batches
  /// made before it, and Interrupted.
  std::optional<PreparedBatch> next();

 private:
  void run();
  bool wait_for_room();
  bool make_one();

  Produce produce_;
  const std::size_t capacity_;
  const StopFlag* stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PreparedBatch> ready_;
  std::exception_ptr error_;
  bool ended_ = false;
  bool closing_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace titan::data
