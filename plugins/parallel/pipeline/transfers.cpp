#include "plugins/parallel/pipeline/transfers.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

using Key = std::tuple<std::int32_t, std::uint32_t, std::uint32_t>;

Key key_of(const titan_action& action) { return {action.kind, action.stage, action.micro_batch}; }

/// A computation as files have it: "1B0".
std::string name(const titan_action& action) {
  return sdk::concat(action.stage, action.kind == TITAN_ACTION_FORWARD ? "F" : "B", action.micro_batch);
}

class Walk {
 public:
  Walk(const Rows& rows, const Owners& owners)
      : rows_(rows),
        owners_(owners),
        last_stage_(owners.empty() ? 0 : owners.rbegin()->first),
        next_(rows.size()),
        out_(rows.size()) {}

  Rows run() {
    while (!is_done()) {
      if (!tick()) refuse();
    }
    return std::move(out_);
  }

 private:
  bool is_done() const {
    for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
      if (next_[rank] < rows_[rank].size()) return false;
    }
    return true;
  }

  /// Every rank whose next computation has its input does it, then they exchange what they have made.
  bool tick() {
    std::vector<titan_action> begun;
    for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
      if (next_[rank] == rows_[rank].size()) continue;
      const titan_action& action = rows_[rank][next_[rank]];
      const auto needed = needed_by(action);
      if (needed && !made_.contains(key_of(*needed))) continue;
      begun.push_back(action);
      out_[rank].push_back(action);
      ++next_[rank];
    }
    for (const titan_action& action : begun) {
      made_.insert(key_of(action));
      exchange(action);
    }
    return !begun.empty();
  }

  std::optional<titan_action> needed_by(titan_action action) const {
    const bool is_forward = action.kind == TITAN_ACTION_FORWARD;
    if (is_forward ? action.stage == 0 : action.stage == last_stage_) {
      // A loss can be differentiated when there is one.
      if (is_forward) return std::nullopt;
      action.kind = TITAN_ACTION_FORWARD;
      return action;
    }
    action.stage = is_forward ? action.stage - 1 : action.stage + 1;
    return action;
  }

  void exchange(const titan_action& action) {
    const bool is_forward = action.kind == TITAN_ACTION_FORWARD;
    if (is_forward ? action.stage == last_stage_ : action.stage == 0) return;
    const std::uint32_t partner = is_forward ? action.stage + 1 : action.stage - 1;
    const auto from = owners_.at(action.stage);
    const auto to = owners_.find(partner);
    if (to == owners_.end() || to->second == from) return;
    const std::int32_t send = is_forward ? TITAN_ACTION_SEND_FORWARD : TITAN_ACTION_SEND_BACKWARD;
    const std::int32_t receive = is_forward ? TITAN_ACTION_RECEIVE_FORWARD : TITAN_ACTION_RECEIVE_BACKWARD;
    out_[from].push_back({send, action.stage, action.micro_batch, 0});
    out_[to->second].push_back({receive, partner, action.micro_batch, 0});
  }

  [[noreturn]] void refuse() const {
    std::string waiting;
    for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
      if (next_[rank] == rows_[rank].size()) continue;
      const titan_action& action = rows_[rank][next_[rank]];
      const titan_action needed = needed_by(action).value_or(action);
      if (!is_anywhere(needed)) {
        throw sdk::ConfigError("[pipeline] a schedule lacks an action: ", name(needed), " is missing, rank ", rank,
                               " needs it for ", name(action));
      }
      waiting += sdk::concat(waiting.empty() ? "" : ", ", "rank ", rank, " at ", name(action), " needs ", name(needed));
    }
    throw sdk::ConfigError("[pipeline] the ranks of a schedule wait for each other: ", waiting);
  }

  bool is_anywhere(const titan_action& wanted) const {
    const auto is_wanted = [&](const titan_action& action) { return key_of(action) == key_of(wanted); };
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const auto& row) { return std::any_of(row.begin(), row.end(), is_wanted); });
  }

  const Rows& rows_;
  const Owners& owners_;
  std::uint32_t last_stage_;
  std::vector<std::size_t> next_;
  std::set<Key> made_;
  Rows out_;
};

}  // namespace

Rows with_transfers(const Rows& rows, const Owners& owners) { return Walk(rows, owners).run(); }

}  // namespace titan::parallel::pipeline
