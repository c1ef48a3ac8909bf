#pragma once

#include <cstdint>
#include <vector>

namespace titan::observability {

/// A stretch of addresses.
struct Segment {
  std::uint64_t begin, end;
};

/// Joins stretches to segments: those that touch, overlap, or are no further apart than a gap.
class Segments {
 public:
  explicit Segments(std::uint64_t largest_gap) : largest_gap_(largest_gap) {}

  void add(Segment stretch);
  /// In order of their addresses.
  std::vector<Segment> take();

 private:
  /// Far fewer segments than stretches are left: memory stays small, however many are added.
  void join();

  static constexpr std::size_t kMostPending = 1U << 16U;
  std::uint64_t largest_gap_;
  std::vector<Segment> segments_;
  std::size_t num_joined_ = 0;
};

}  // namespace titan::observability
