#include <map>
#include <set>
#include <tuple>

#include "core/base/text.hpp"
#include "core/schedule/lint_parts.hpp"
#include "core/schedule/message.hpp"

namespace titan::schedule {
namespace {

using Key = std::tuple<std::int32_t, std::uint32_t, std::uint32_t>;  // kind, stage, micro-batch

Key key_of(const titan_action& action) { return {action.kind, action.stage, action.micro_batch}; }

titan_action action_of(std::int32_t kind, std::uint32_t stage, std::uint32_t micro_batch) {
  return {kind, stage, micro_batch, 0};
}

/// Where each action of a table stands on its rank; says on the way which ones cannot be.
class Places {
 public:
  Places(const Table& table, std::vector<std::string>& problems) : table_(table) {
    for (std::size_t rank = 0; rank < table.ranks.size(); ++rank) {
      const auto& actions = table.ranks[rank].actions;
      for (std::size_t i = 0; i < actions.size(); ++i) add(rank, actions[i], i, problems);
    }
  }
  bool has(const titan_action& action) const { return places_.contains(key_of(action)); }
  /// Whether both are there and the first comes later.
  bool is_reversed(const titan_action& first, const titan_action& second) const {
    return has(first) && has(second) && places_.at(key_of(first)) > places_.at(key_of(second));
  }

 private:
  void add(std::size_t rank, const titan_action& action, std::size_t place, std::vector<std::string>& problems) {
    if (action.kind == TITAN_ACTION_IDLE) return;
    const std::string where = concat("rank ", rank, ": ", name_of(action));
    if (action.kind < TITAN_ACTION_FORWARD || action.kind > TITAN_ACTION_IDLE) {
      problems.push_back(concat(where, " is of an unknown kind, number ", action.kind));
    } else if (table_.owner(action.stage) != rank) {
      problems.push_back(concat(where, " is of a stage that is not on this rank"));
    } else if (action.micro_batch >= table_.num_micro_batches) {
      problems.push_back(concat(where, " is of a micro-batch that there is not, of ", table_.num_micro_batches));
    } else if (!places_.emplace(key_of(action), place).second) {
      problems.push_back(concat(where, " is there twice"));
    }
  }

  const Table& table_;
  std::map<Key, std::size_t> places_;
};

template <class Visit>
void for_each_cell(const Table& table, Visit visit) {
  for (std::size_t rank = 0; rank < table.ranks.size(); ++rank) {
    for (const titan_stage& stage : table.ranks[rank].stages) {
      for (std::uint32_t i = 0; i < table.num_micro_batches; ++i) visit(rank, stage.index, i);
    }
  }
}

/// A forward after the one of the stage before, where both are on one rank; a backward after the one of the next.
void lint_handover(const Table& table, const Places& places, std::size_t rank, const titan_action& later,
                   std::uint32_t earlier_stage, std::vector<std::string>& problems) {
  if (table.owner(earlier_stage) != rank) return;
  const titan_action earlier = action_of(later.kind, earlier_stage, later.micro_batch);
  if (places.is_reversed(earlier, later)) {
    problems.push_back(
        concat("rank ", rank, ": ", name_of(later), " comes before ", name_of(earlier), ", which it needs"));
  }
}

void lint_cell(const Table& table, const Places& places, std::size_t rank, std::uint32_t stage,
               std::uint32_t micro_batch, std::vector<std::string>& problems) {
  const titan_action forward = action_of(TITAN_ACTION_FORWARD, stage, micro_batch);
  const titan_action backward = action_of(TITAN_ACTION_BACKWARD, stage, micro_batch);
  const auto say = [&](const auto&... parts) { problems.push_back(concat("rank ", rank, ": ", parts...)); };
  if (!places.has(forward))
    say(name_of(forward), " is missing: stage ", stage, " never sees micro-batch ", micro_batch);
  if (table.training && !places.has(backward)) say(name_of(backward), " is missing");
  if (!table.training && places.has(backward)) say(name_of(backward), " is there, in a pass that is forward only");
  if (places.is_reversed(forward, backward)) say(name_of(backward), " comes before ", name_of(forward));
  if (stage > 0) lint_handover(table, places, rank, forward, stage - 1, problems);
  if (stage + 1 < table.num_stages()) lint_handover(table, places, rank, backward, stage + 1, problems);
}

/// A compute action's messages, in and out: there, and on the right side of it.
void lint_messages(const Table& table, const Places& places, std::size_t rank, const titan_action& action,
                   std::set<Key>& expected, std::vector<std::string>& problems) {
  const auto say = [&](const auto&... parts) { problems.push_back(concat("rank ", rank, ": ", parts...)); };
  if (const auto in = input_of(action, table)) {
    const titan_action receive = receiving(*in);
    expected.insert(key_of(receive));
    const std::size_t partner = table.owner(in->from_stage).value();
    if (!places.has(receive))
      say(name_of(receive), " from rank ", partner, " is missing, ", name_of(action), " needs it");
    if (places.is_reversed(receive, action))
      say(name_of(action), " comes before ", name_of(receive), " from rank ", partner);
  }
  if (const auto out = output_of(action, table)) {
    const titan_action send = sending(*out);
    expected.insert(key_of(send));
    const std::size_t partner = table.owner(out->to_stage).value();
    if (!places.has(send)) say(name_of(send), " to rank ", partner, " is missing after ", name_of(action));
    if (places.is_reversed(action, send)) say(name_of(send), " to rank ", partner, " comes before ", name_of(action));
  }
}

using Route = std::pair<std::size_t, std::size_t>;  // sending rank, receiving rank
using Routes = std::map<Route, std::vector<Message>>;

Routes routes(const Table& table, bool (*wanted)(const titan_action&)) {
  Routes found;
  for (const RankPlan& rank : table.ranks) {
    for (const titan_action& action : rank.actions) {
      if (!wanted(action)) continue;
      const Message message = message_of(action, table.num_stages()).value();
      found[{table.owner(message.from_stage).value(), table.owner(message.to_stage).value()}].push_back(message);
    }
  }
  return found;
}

void lint_order(const Table& table, std::vector<std::string>& problems) {
  const Routes sent = routes(table, &is_send), received = routes(table, &is_receive);
  for (const auto& [route, messages] : sent) {
    const std::vector<Message>& others = received.at(route);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i] == others[i]) continue;
      problems.push_back(concat("rank ", route.first, " sends ", name_of(sending(messages[i])), " to rank ",
                                route.second, " where that one receives ", name_of(receiving(others[i])), " first"));
      break;
    }
  }
}

}  // namespace

void lint_compute(const Table& table, std::vector<std::string>& problems) {
  const Places places(table, problems);
  for_each_cell(table, [&](std::size_t rank, std::uint32_t stage, std::uint32_t micro_batch) {
    lint_cell(table, places, rank, stage, micro_batch, problems);
  });
}

void lint_transfers(const Table& table, std::vector<std::string>& problems) {
  if (!problems.empty()) return;
  const Places places(table, problems);
  std::set<Key> expected;
  for_each_cell(table, [&](std::size_t rank, std::uint32_t stage, std::uint32_t micro_batch) {
    for (const std::int32_t kind : {TITAN_ACTION_FORWARD, TITAN_ACTION_BACKWARD}) {
      if (kind == TITAN_ACTION_BACKWARD && !table.training) continue;
      lint_messages(table, places, rank, action_of(kind, stage, micro_batch), expected, problems);
    }
  });
  for (std::size_t rank = 0; rank < table.ranks.size(); ++rank) {
    for (const titan_action& action : table.ranks[rank].actions) {
      if ((!is_send(action) && !is_receive(action)) || expected.contains(key_of(action))) continue;
      problems.push_back(concat("rank ", rank, ": ", name_of(action), " has no partner: there is nothing to transfer"));
    }
  }
  if (problems.empty()) lint_order(table, problems);
}

}  // namespace titan::schedule
