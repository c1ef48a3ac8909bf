#pragma once

#include <cstddef>
#include <cstdint>
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

/// Numbers of ranks that are equal where their calls take equally long: how the members of each of their channels are
/// spread over nodes, and which of their transfers leave one. For Agents.
std::vector<Colors> link_features(const Layout& layout, std::int64_t gpus_per_node);

/// What the calls of agents take.
class TransferCosts {
 public:
  /// The agents must have been made with link_features() of the hardware's nodes.
  TransferCosts(const Layout& layout, const Agents& agents, const Hardware& hardware);

  /// Of a call, by its index in the rehearsed rank, that the agent starts.
  double seconds(std::size_t agent, std::uint32_t call) const { return seconds_[agent][call]; }

 private:
  std::vector<std::vector<double>> seconds_;
};

}  // namespace titan::rehearsal
