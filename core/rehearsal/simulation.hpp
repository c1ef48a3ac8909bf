#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/rehearsal/agents.hpp"
#include "core/rehearsal/lines.hpp"
#include "core/schedule/simulation.hpp"

namespace titan::rehearsal {

/// How long things take; by default nothing takes time.
struct Costs {
  double seconds_per_flop = 0;
  /// Of a call (an index of the rehearsed rank's) that an agent starts; null: none.
  std::function<double(std::size_t agent, std::uint32_t call)> transfer;
};

/// A wait that took time.
struct TimedWait {
  std::size_t event = 0;
  double idle = 0;     // until all others had started the call
  double exposed = 0;  // from then on
};

/// What became of an agent. Times are of the last step: it begins at 0, and what is before takes none.
struct AgentRun {
  std::size_t num_done = 0;  // events
  double now = 0;            // when it is done
  double communicated = 0;   // seconds of its transfers, overlapped or not
  std::vector<TimedWait> waits;
  std::vector<double> passed;  // when each event was over; of timed simulations
};

/// What an agent waits for that does not come to its end.
struct Obstacle {
  std::uint32_t call = 0;             // of the rehearsed rank; for transfers the first that is not done between the two
  std::size_t number = 0;             // of it in the channel, or of its operation between the two, from 1
  std::uint32_t awaited = 0;          // the call that is waited for: `call`, or a later one
  std::vector<std::int32_t> missing;  // agents that have not started it, or the agent at the other end
};

/// Runs one rank of each agent through all its events. Deterministic: when a call is over depends on when its sides
/// start it, never on the order in which the agents are looked at.
class Simulation {
 public:
  /// Layout and agents outlive it.
  Simulation(const Layout& layout, const Agents& agents, schedule::SendRule rule, Costs costs = {});

  /// True: all agents came to their end.
  bool run();
  const std::vector<AgentRun>& runs() const { return runs_; }
  bool has_ended(std::size_t agent) const { return runs_[agent].num_done == program(agent).events.size(); }
  /// Of an agent that has not ended.
  Obstacle obstacle(std::size_t agent) const;

 private:
  struct Token {
    bool is_transfer = false;
    std::size_t line = 0, number = 0;
    std::uint32_t call = 0;
  };
  struct Pair {
    TransferLine line;
    std::size_t agent = 0;
    std::int32_t peer_agent = kNobody;
    std::size_t peer = 0;  // index of the other end
    bool is_known = false;
  };
  struct State {
    std::unordered_map<std::size_t, Token> started;  // by event; calls of several ranks
    std::map<Route, std::size_t> pairs;
    std::vector<std::size_t> collectives;  // line by kind
    double flops = 0;                      // of the events passed
    bool is_queued = true;
    bool has_reached = false;  // the event at hand
  };

  const RehearsedRank& program(std::size_t agent) const { return layout_.ranks()[agents_.all()[agent].rehearsed]; }
  void make_collectives();
  void make_pairs();
  std::size_t pair_of(std::size_t agent, const Route& route);
  void advance(std::size_t agent);
  void reach(std::size_t agent, const RehearsedEvent& event);
  void start(std::size_t agent, std::size_t at);
  void exchange(std::size_t pair);
  /// False: what the event waits for is not over.
  bool wait(std::size_t agent, const RehearsedEvent& event);
  void pass(std::size_t agent);
  void finish(std::size_t agent);
  bool is_in_step(std::size_t agent) const { return runs_[agent].num_done >= program(agent).first_of_step; }
  bool is_over(const Token& token) const;
  void wake(std::vector<std::size_t>& sleepers);
  void wake(std::size_t agent);

  const Layout& layout_;
  const Agents& agents_;
  schedule::SendRule rule_;
  Costs costs_;
  bool is_timed_;
  std::vector<AgentRun> runs_;
  std::vector<State> states_;
  std::vector<CollectiveLine> collectives_;
  std::vector<std::vector<std::size_t>> sleepers_;  // agents that wait, by collective line
  std::vector<Pair> pairs_;
  std::vector<std::size_t> queue_;
};

}  // namespace titan::rehearsal
