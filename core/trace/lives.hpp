#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/site.hpp"
#include "core/trace/snapshot.hpp"

namespace titan::trace {

/// One block from its allocation to its end.
struct Life {
  static constexpr std::size_t kBefore = SIZE_MAX;  // it was there before the first event

  std::size_t begin = kBefore;  // number of the event that made it, from 0
  std::size_t end = 0;          // of the event that ended it; the number of all events: it is alive
  std::int64_t size = 0;
  std::uint32_t stack = 0, kind = pickle::Texts::kNone, name = pickle::Texts::kNone;

  /// Whether it is alive after `count` events.
  bool is_alive(std::size_t count) const { return (begin == kBefore || begin < count) && end >= count; }
};

/// The blocks of a device: those that were there before, then in order of their allocation.
std::vector<Life> lives_of(const DeviceMemory& device);

/// Bytes alive after 0, 1, 2, ... all events. DataError names `source` when sizes add up to more than any memory.
class LiveBytes {
 public:
  LiveBytes(const std::vector<Life>& lives, std::size_t num_events, const std::string& source);

  std::int64_t after(std::size_t num_events) const { return bytes_[num_events]; }
  std::size_t num_events() const { return bytes_.size() - 1; }

 private:
  std::vector<std::int64_t> bytes_;
};

}  // namespace titan::trace
