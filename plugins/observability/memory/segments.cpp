#include "plugins/observability/memory/segments.hpp"

#include <algorithm>
#include <utility>

namespace titan::observability {

void Segments::add(Segment stretch) {
  segments_.push_back(stretch);
  if (segments_.size() - num_joined_ >= kMostPending) join();
}

std::vector<Segment> Segments::take() {
  join();
  num_joined_ = 0;
  return std::move(segments_);
}

void Segments::join() {
  std::sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (const Segment& next : segments_) {
    Segment& open = segments_[last];
    if (next.begin <= open.end + largest_gap_) {
      open.end = std::max(open.end, next.end);
    } else {
      segments_[++last] = next;
    }
  }
  if (!segments_.empty()) segments_.resize(last + 1);
  num_joined_ = segments_.size();
}

}  // namespace titan::observability
