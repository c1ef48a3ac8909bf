#include "core/rehearsal/deadlock.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/rehearsal/agents.hpp"
#include "core/rehearsal/call_text.hpp"
#include "core/rehearsal/simulation.hpp"

namespace titan::rehearsal {
namespace {

// A chain through ranks of the same agents can be as long as the layout.
constexpr std::size_t kMostShown = 32;

class Inquest {
 public:
  Inquest(const Layout& layout, const Agents& agents, const Simulation& simulation, schedule::SendRule rule)
      : layout_(layout), agents_(agents), simulation_(simulation) {
    found_.rule = rule;
  }

  Deadlock run() {
    std::int64_t rank = -1;
    for (std::size_t agent = 0; agent < agents_.all().size(); ++agent) {
      if (simulation_.has_ended(agent)) continue;
      found_.num_stuck += agents_.all()[agent].num_ranks;
      if (rank < 0) rank = agents_.all()[agent].first_rank;
    }
    follow(rank);
    found_.text = text();
    return std::move(found_);
  }

 private:
  std::int32_t agent_of(std::int64_t rank) const { return agents_.of_ranks()[static_cast<std::size_t>(rank)]; }

  void follow(std::int64_t rank) {
    while (found_.chain.size() < kMostShown) {
      found_.chain.push_back(stuck(rank));
      const std::vector<std::int64_t>& next = found_.chain.back().waits_for;
      const auto ended = std::ranges::find_if(
          next, [&](std::int64_t each) { return simulation_.has_ended(static_cast<std::size_t>(agent_of(each))); });
      if (ended != next.end()) {
        ended_ = *ended;
        return;
      }
      for (const std::int64_t each : next) {
        const auto seen = std::ranges::find(found_.chain, each, &StuckRank::rank);
        if (seen == found_.chain.end()) continue;
        found_.chain.erase(found_.chain.begin(), seen);
        found_.is_cycle = true;
        return;
      }
      rank = next.front();
    }
  }

  StuckRank stuck(std::int64_t rank) const {
    const auto agent = static_cast<std::size_t>(agent_of(rank));
    const Obstacle obstacle = simulation_.obstacle(agent);
    const std::size_t rehearsed = agents_.all()[agent].rehearsed;
    const std::vector<RehearsedCall>& calls = layout_.ranks()[rehearsed].calls;
    const RehearsedCall& call = calls[obstacle.call];
    const TranslatedCall& translated = layout_.calls(rehearsed)[obstacle.call];
    const ChannelKind& kind = layout_.kinds()[translated.kind];
    StuckRank found{rank, call.module, concat(call_text(call), " number ", obstacle.number, " of ", call.group), {}};
    if (translated.role != TranslatedCall::Role::collective) {
      found.waits_for.push_back(kind.neighbour(rank, translated.steps));
      if (obstacle.awaited != obstacle.call)
        found.call += concat(", behind which its ", calls[obstacle.awaited].op, " waits");
      return found;
    }
    for (const std::int64_t member : kind.members(rank)) {
      if (std::ranges::find(obstacle.missing, agent_of(member)) != obstacle.missing.end()) {
        found.waits_for.push_back(member);
      }
    }
    return found;
  }

  std::string text() const {
    const bool is_buffered = found_.rule == schedule::SendRule::buffered;
    std::string lines = concat(found_.num_stuck, found_.num_stuck == 1 ? " rank waits" : " ranks wait", " for ever",
                               is_buffered ? ", even if sends are done at once" : " if a send waits for its receive");
    for (const StuckRank& rank : found_.chain) {
      lines += concat("\n  rank ", rank.rank, " waits in ", rank.call, module_text(rank.module), ": ",
                      ranks_text(rank.waits_for), rank.waits_for.size() == 1 ? " does" : " do", " not come to it");
    }
    if (found_.is_cycle) return concat(lines, "\n  which closes the circle");
    return ended_ < 0 ? concat(lines, "\n  and so on") : concat(lines, "\n  rank ", ended_, " has come to its end");
  }

  const Layout& layout_;
  const Agents& agents_;
  const Simulation& simulation_;
  std::int64_t ended_ = -1;
  Deadlock found_;
};

}  // namespace

std::optional<Deadlock> find_deadlock(const RehearsalReport& report, const config::Mesh& mesh,
                                      schedule::SendRule rule) {
  const Layout layout(report, mesh);
  const Agents agents(layout);
  Simulation simulation(layout, agents, rule);
  if (simulation.run()) return std::nullopt;
  return Inquest(layout, agents, simulation, rule).run();
}

}  // namespace titan::rehearsal
