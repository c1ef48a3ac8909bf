#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/rehearsal/class_calls.hpp"
#include "core/rehearsal/layout.hpp"

namespace titan::rehearsal {

/// Ranks that do the same and meet the same agents in every channel and at the other end of every transfer.
struct Agent {
  std::size_t rehearsed = 0;    // index of who stands for them
  std::int64_t first_rank = 0;  // of them
  std::int64_t num_ranks = 0;
};

/// The coarsest division of a layout's ranks into agents. It is what a simulation of one rank for each agent is sound
/// by: a call is over when certain ranks have started it, these are of the same agents for all ranks of an agent, and
/// all ranks of an agent begin alike; so they are in the same event at the same time for ever, and a simulation of all
/// ranks would only repeat what one of each does. (In graph theory: the coarsest equitable partition.)
class Agents {
 public:
  /// `features`: numbers of ranks that are equal for the ranks of an agent, too.
  explicit Agents(const Layout& layout, const std::vector<Colors>& features = {});

  const std::vector<Agent>& all() const { return agents_; }
  /// Of each rank; kNobody for those that are not known.
  const Colors& of_ranks() const { return colors_; }
  /// The distinct sets of agents that meet in channels of a kind, and which one is a rank's.
  const std::vector<Meeting>& meetings(std::uint32_t kind) const { return meetings_[kind]; }
  std::size_t meeting_of(std::int64_t rank, std::uint32_t kind) const {
    return static_cast<std::size_t>(meeting_of_ranks_[kind][static_cast<std::size_t>(rank)]);
  }
  /// The agent at the other end of an agent's route; kNobody: not known.
  std::int32_t peer(std::size_t agent, const Route& route) const;
  /// Routes that a rehearsed rank sends or receives over.
  const std::set<Route>& routes(std::size_t rehearsed) const { return used_[rehearsed].routes; }

 private:
  struct Used {
    std::set<std::uint32_t> kinds;  // with collectives of several ranks
    std::set<Route> routes;
  };
  void find_used();
  void begin(const std::vector<Colors>& features);
  /// Divides the colors further; false: they are as fine as they have to be.
  bool refine();
  void meet();
  void list();

  const Layout& layout_;
  std::vector<Used> used_;
  Colors colors_;
  std::size_t num_colors_ = 0;
  std::vector<std::vector<Meeting>> meetings_;
  std::vector<std::vector<std::int32_t>> meeting_of_ranks_;
  std::vector<Agent> agents_;
};

}  // namespace titan::rehearsal
