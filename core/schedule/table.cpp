#include "core/schedule/table.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace titan::schedule {
namespace {

const char* kind_name(std::int32_t kind) {
  switch (kind) {
    case TITAN_ACTION_FORWARD:
      return "F";
    case TITAN_ACTION_BACKWARD:
      return "B";
    case TITAN_ACTION_SEND_FORWARD:
      return "SEND_F";
    case TITAN_ACTION_RECEIVE_FORWARD:
      return "RECV_F";
    case TITAN_ACTION_SEND_BACKWARD:
      return "SEND_B";
    case TITAN_ACTION_RECEIVE_BACKWARD:
      return "RECV_B";
    default:
      return "?";
  }
}

const titan_stage* find_stage(const RankPlan& rank, std::uint32_t index) {
  const auto found = std::find_if(rank.stages.begin(), rank.stages.end(),
                                  [&](const titan_stage& stage) { return stage.index == index; });
  return found == rank.stages.end() ? nullptr : &*found;
}

}  // namespace

std::uint32_t Table::num_stages() const {
  std::size_t count = 0;
  for (const RankPlan& rank : ranks) count += rank.stages.size();
  return static_cast<std::uint32_t>(count);
}

std::optional<titan_stage> Table::stage(std::uint32_t index) const {
  const auto rank = owner(index);
  if (!rank) return std::nullopt;
  return *find_stage(ranks[*rank], index);
}

std::optional<std::size_t> Table::owner(std::uint32_t stage) const {
  if (ranks.empty()) return std::nullopt;
  // Most schedules deal stages out in turn. This is asked of every action: a search each time would be quadratic.
  const std::size_t likely = stage % ranks.size();
  if (find_stage(ranks[likely], stage) != nullptr) return likely;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (find_stage(ranks[rank], stage) != nullptr) return rank;
  }
  return std::nullopt;
}

bool is_compute(const titan_action& action) {
  return action.kind == TITAN_ACTION_FORWARD || action.kind == TITAN_ACTION_BACKWARD;
}

bool is_send(const titan_action& action) {
  return action.kind == TITAN_ACTION_SEND_FORWARD || action.kind == TITAN_ACTION_SEND_BACKWARD;
}

bool is_receive(const titan_action& action) {
  return action.kind == TITAN_ACTION_RECEIVE_FORWARD || action.kind == TITAN_ACTION_RECEIVE_BACKWARD;
}

std::string name_of(const titan_action& action) {
  if (action.kind == TITAN_ACTION_IDLE) return {};
  return concat(action.stage, kind_name(action.kind), action.micro_batch);
}

std::string block_names(const Table& table, const titan_stage& stage) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < stage.count && stage.first + i < table.blocks.size(); ++i) {
    names.push_back(table.blocks[stage.first + i]);
  }
  return join(names, ", ");
}

std::string to_csv(const Table& table, bool with_transfers) {
  std::string text;
  for (const RankPlan& rank : table.ranks) {
    std::vector<std::string> names;
    for (const titan_action& action : rank.actions) {
      if (is_compute(action) || with_transfers) names.push_back(name_of(action));
    }
    text += join(names, ",") + '\n';
  }
  return text;
}

}  // namespace titan::schedule
