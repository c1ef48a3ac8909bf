#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/rehearsal/agents.hpp"
#include "core/rehearsal/hardware.hpp"

namespace titan::rehearsal {

/// How the members of a channel are spread over nodes.
struct Spread {
  std::int64_t num_members = 1;
  std::int64_t num_nodes = 1;
  std::int64_t least_in_node = 1;  // of the nodes with members
};

/// What a call moves: the larger of its input and output, in bytes.
std::int64_t moved_bytes(const RehearsedCall& call);

/// What each of the members puts on its links, in bytes, by the ring formulas of estimate().
double sent_bytes(const RehearsedCall& call, std::int64_t num_members);

/// Seconds of a collective, by the formulas of estimate().
double collective_seconds(const Hardware& hardware, const Spread& spread, const RehearsedCall& call);

/// Seconds of a send and its receive.
double send_seconds(const Hardware& hardware, bool is_in_node, const RehearsedCall& call);

/// What the calls of a layout's ranks take. Of the channels that an agent's ranks are in, the slowest counts.
class TransferCosts {
 public:
  /// All must outlive the object.
  TransferCosts(const Layout& layout, const Agents& agents, const Hardware& hardware);

  /// Of a call, by its index in the rehearsed rank, that the agent starts.
  double seconds(std::size_t agent, std::uint32_t call) const { return seconds_[agent][call]; }

 private:
  void find_spreads();
  void find_crossings();

  const Layout& layout_;
  const Agents& agents_;
  const Hardware& hardware_;
  std::vector<std::vector<Spread>> spreads_;          // by kind and meeting
  std::vector<std::map<Route, bool>> crosses_nodes_;  // by agent
  std::vector<std::vector<double>> seconds_;
};

}  // namespace titan::rehearsal
