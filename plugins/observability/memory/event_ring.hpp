#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace titan::observability {

/// What happened to a block. Numbers of places and stacks are the recorder's.
struct RecordedEvent {
  std::int64_t time_us;  // since 1970
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t place;
  std::int32_t step;
  std::uint32_t stack;
  std::int32_t action;  // TITAN_MEMORY_*
};

/// The newest events, at most a number of them. Memory is touched as it fills.
class EventRing {
 public:
  /// std::bad_alloc.
  explicit EventRing(std::size_t capacity);

  void push(const RecordedEvent& event);
  /// Oldest first.
  const RecordedEvent& operator[](std::size_t index) const { return events_[(first_ + index) % capacity_]; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  /// Entries of the file that forgotten events would have been: a free is two, asked for and done.
  std::uint64_t forgotten_entries() const { return forgotten_; }

 private:
  std::size_t capacity_, first_ = 0, size_ = 0;
  std::uint64_t forgotten_ = 0;
  std::unique_ptr<RecordedEvent[]> events_;
};

/// Entries of the file that an event is.
std::uint64_t num_entries(const RecordedEvent& event);

}  // namespace titan::observability
