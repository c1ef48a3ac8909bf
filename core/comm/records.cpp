#include "core/comm/records.hpp"

#include <algorithm>

namespace titan::comm {

Recorder::Recorder(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)) {}

void Recorder::set_capacity(std::size_t capacity) {
  const std::lock_guard lock(mutex_);
  capacity_ = std::max<std::size_t>(capacity, 1);
  while (ring_.size() > capacity_) ring_.pop_front();
}

std::uint64_t Recorder::add(WorkRecord record) {
  const std::lock_guard lock(mutex_);
  record.id = next_++;
  ring_.push_back(std::move(record));
  if (ring_.size() > capacity_) ring_.pop_front();
  return ring_.back().id;
}

void Recorder::update(std::uint64_t id, const std::function<void(WorkRecord&)>& change) {
  const std::lock_guard lock(mutex_);
  if (ring_.empty() || id < ring_.front().id || id > ring_.back().id) return;
  change(ring_[static_cast<std::size_t>(id - ring_.front().id)]);
}

std::vector<WorkRecord> Recorder::snapshot() const {
  const std::lock_guard lock(mutex_);
  return {ring_.begin(), ring_.end()};
}

std::uint64_t Recorder::count() const {
  const std::lock_guard lock(mutex_);
  return next_ - 1;
}

}  // namespace titan::comm
