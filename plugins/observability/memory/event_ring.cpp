#include "plugins/observability/memory/event_ring.hpp"

#include "titan/abi/memory.h"

namespace titan::observability {

std::uint64_t num_entries(const RecordedEvent& event) { return event.action == TITAN_MEMORY_FREE ? 2 : 1; }

EventRing::EventRing(std::size_t capacity) : capacity_(capacity), events_(new RecordedEvent[capacity]) {}

void EventRing::push(const RecordedEvent& event) {
  if (size_ < capacity_) {
    events_[size_++] = event;
    return;
  }
  forgotten_ += num_entries(events_[first_]);
  events_[first_] = event;
  first_ = first_ + 1 == capacity_ ? 0 : first_ + 1;
}

}  // namespace titan::observability
