#include "core/schedule/timeline.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/schedule/message.hpp"

namespace titan::schedule {
namespace {

class Clock {
 public:
  Clock(const Table& table, const Costs& costs)
      : table_(table), costs_(costs), next_(table.ranks.size()), now_(table.ranks.size()) {
    timeline_.ranks.resize(table.ranks.size());
  }

  Timeline run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < next_.size(); ++rank) {
        while (advance(rank)) moved = true;
      }
    }
    return std::move(timeline_);
  }

 private:
  bool advance(std::size_t rank) {
    const auto& actions = table_.ranks[rank].actions;
    if (next_[rank] == actions.size()) return false;
    const titan_action& action = actions[next_[rank]];
    if (is_compute(action) && !compute(rank, action)) return false;
    ++next_[rank];
    return true;
  }

  // Receives are posted early, so it is the computation that waits.
  bool compute(std::size_t rank, const titan_action& action) {
    std::int64_t begin = now_[rank];
    if (const auto in = input_of(action, table_)) {
      const auto arrival = arrivals_.find(*in);
      if (arrival == arrivals_.end()) return false;
      begin = std::max(begin, arrival->second);
    }
    const std::int64_t end = begin + (action.kind == TITAN_ACTION_FORWARD ? costs_.forward : costs_.backward);
    if (const auto out = output_of(action, table_)) arrivals_[*out] = end;
    timeline_.ranks[rank].push_back({begin, end, action});
    now_[rank] = end;
    return true;
  }

  const Table& table_;
  Costs costs_;
  std::vector<std::size_t> next_;
  std::vector<std::int64_t> now_;
  std::map<Message, std::int64_t> arrivals_;
  Timeline timeline_;
};

std::int64_t peak_live(const std::vector<Slot>& slots) {
  std::int64_t live = 0, peak = 0;
  for (const Slot& slot : slots) {
    live += slot.action.kind == TITAN_ACTION_FORWARD ? 1 : -1;
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace

Timeline simulate_time(const Table& table, const Costs& costs) {
  Timeline timeline = Clock(table, costs).run();
  std::int64_t busy = 0;
  for (const std::vector<Slot>& slots : timeline.ranks) {
    for (const Slot& slot : slots) busy += slot.end - slot.begin;
    if (!slots.empty()) timeline.length = std::max(timeline.length, slots.back().end);
    timeline.peak_live.push_back(table.training ? peak_live(slots)
                                                : std::min<std::int64_t>(1, static_cast<std::int64_t>(slots.size())));
  }
  const auto all = static_cast<double>(timeline.length) * static_cast<double>(timeline.ranks.size());
  timeline.bubble_share = all == 0 ? 0 : 1 - static_cast<double>(busy) / all;
  return timeline;
}

}  // namespace titan::schedule
