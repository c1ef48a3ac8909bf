#include "core/data/prefetcher.hpp"

#include <chrono>
#include <utility>

namespace titan::data {

namespace {

constexpr std::chrono::milliseconds kStopPollInterval(50);

}  // namespace

Prefetcher::Prefetcher(Produce produce, std::size_t capacity, const StopFlag* stop)
    : produce_(std::move(produce)), capacity_(capacity), stop_(stop), thread_([this] { run(); }) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetcher::run() {
  while (wait_for_room() && make_one()) {
  }
}

bool Prefetcher::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closing_ || ready_.size() < capacity_; });
  return !closing_;
}

/// Returns false behind the last batch.
bool Prefetcher::make_one() {
  std::optional<PreparedBatch> made;
  std::exception_ptr error;
  try {
    made = produce_();
  } catch (...) {
    error = std::current_exception();
  }
  const bool goes_on = made.has_value();
  {
    const std::lock_guard lock(mutex_);
    if (made) ready_.push_back(std::move(*made));
    error_ = error;
    ended_ = !goes_on;
  }
  changed_.notify_all();
  return goes_on;
}

std::optional<PreparedBatch> Prefetcher::next() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kStopPollInterval, [this] { return ended_ || !ready_.empty(); })) {
    if (stop_ != nullptr) stop_->check();
  }
  if (ready_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return std::nullopt;
  }
  PreparedBatch batch = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return batch;
}

}  // namespace titan::data
