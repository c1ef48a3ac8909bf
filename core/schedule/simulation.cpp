#include "core/schedule/simulation.hpp"

#include <set>

#include "core/schedule/message.hpp"

namespace titan::schedule {
namespace {

class Simulation {
 public:
  Simulation(const Table& table, SendRule rule) : table_(table), rule_(rule), done_(table.ranks.size()) {}

  std::vector<std::size_t> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < done_.size(); ++rank) {
        while (advance(rank)) moved = true;
      }
    }
    return done_;
  }

 private:
  const titan_action* next_of(std::size_t rank) const {
    const auto& actions = table_.ranks[rank].actions;
    return done_[rank] < actions.size() ? &actions[done_[rank]] : nullptr;
  }

  bool advance(std::size_t rank) {
    const titan_action* action = next_of(rank);
    if (action == nullptr) return false;
    if (is_send(*action) || is_receive(*action)) {
      const auto message = message_of(*action, table_.num_stages());
      if (!message || !transfer(*action, *message)) return false;
    }
    ++done_[rank];
    return true;
  }

  bool transfer(const titan_action& action, const Message& message) {
    if (is_receive(action)) return sent_.contains(message);
    if (rule_ == SendRule::rendezvous && !is_awaited(message)) return false;
    sent_.insert(message);
    return true;
  }

  bool is_awaited(const Message& message) const {
    const auto receiver = table_.owner(message.to_stage);
    if (!receiver) return false;
    const titan_action* action = next_of(*receiver);
    return action != nullptr && is_receive(*action) && message_of(*action, table_.num_stages()) == message;
  }

  const Table& table_;
  SendRule rule_;
  std::vector<std::size_t> done_;
  std::set<Message> sent_;
};

}  // namespace

std::vector<std::size_t> simulate(const Table& table, SendRule rule) { return Simulation(table, rule).run(); }

}  // namespace titan::schedule
