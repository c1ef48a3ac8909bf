#include "core/rehearsal/transfer_costs.hpp"

#include <algorithm>

namespace titan::rehearsal {
namespace {

/// Steps of a ring of `count` that a collective goes through.
std::int64_t ring_steps(const RehearsedCall& call, std::int64_t count) {
  if (call.op == "alltoall_base") return std::min<std::int64_t>(1, count - 1);  // all pairs at once
  return call.op == "all_reduce" || call.op == "barrier" ? 2 * (count - 1) : count - 1;
}

/// Seconds that bytes take on one link.
double on_link(const Hardware& hardware, double bytes, double bandwidth) {
  return bytes / (bandwidth * hardware.bandwidth_efficiency);
}

double bytes_seconds(const Hardware& hardware, const Spread& spread, const RehearsedCall& call) {
  const double sent = sent_bytes(call, spread.num_members);
  if (spread.num_nodes == 1) return on_link(hardware, sent, hardware.nvlink_bandwidth);
  if (call.op == "alltoall_base") {
    // Each member sends what is for other nodes over its own share of the network.
    const auto members = static_cast<double>(spread.num_members);
    const double away =
        static_cast<double>(moved_bytes(call)) * (members - static_cast<double>(spread.least_in_node)) / members;
    return std::max(on_link(hardware, sent, hardware.nvlink_bandwidth),
                    on_link(hardware, away, hardware.network_bandwidth));
  }
  const double network = hardware.network_bandwidth * static_cast<double>(spread.least_in_node);
  return on_link(hardware, sent, std::min(hardware.nvlink_bandwidth, network));
}

/// Whether transfers over the first are slower.
bool is_slower(const Spread& one, const Spread& other) {
  if (one.num_nodes == 1 || other.num_nodes == 1) return one.num_nodes > other.num_nodes;
  return one.least_in_node != other.least_in_node ? one.least_in_node < other.least_in_node
                                                  : one.num_nodes > other.num_nodes;
}

Spread spread_of(const ChannelKind& kind, std::int64_t leader, std::int64_t gpus_per_node) {
  Spread spread{kind.size(), 0, kind.size()};
  std::int64_t node = -1, here = 0;
  for (std::int64_t i = 0; i <= kind.size(); ++i) {
    const std::int64_t at = i < kind.size() ? kind.member(leader, i) / gpus_per_node : -1;
    if (at != node) {
      if (here > 0) spread.least_in_node = std::min(spread.least_in_node, here);
      spread.num_nodes += at >= 0 ? 1 : 0;
      node = at;
      here = 0;
    }
    ++here;
  }
  return spread;
}

}  // namespace

std::int64_t moved_bytes(const RehearsedCall& call) { return std::max(call.input_bytes, call.output_bytes); }

double sent_bytes(const RehearsedCall& call, std::int64_t num_members) {
  if (call.op == "recv" || num_members == 1) return 0;
  const auto bytes = static_cast<double>(moved_bytes(call));
  if (call.op == "send" || call.op == "broadcast") return bytes;
  const double share = bytes * static_cast<double>(num_members - 1) / static_cast<double>(num_members);
  return call.op == "all_reduce" ? 2 * share : share;
}

double collective_seconds(const Hardware& hardware, const Spread& spread, const RehearsedCall& call) {
  if (spread.num_members == 1) return 0;
  const std::int64_t between = ring_steps(call, spread.num_nodes);
  const std::int64_t inside = ring_steps(call, spread.num_members) - between;
  const double latency =
      static_cast<double>(inside) * hardware.nvlink_latency + static_cast<double>(between) * hardware.network_latency;
  return latency + bytes_seconds(hardware, spread, call);
}

double send_seconds(const Hardware& hardware, bool is_in_node, const RehearsedCall& call) {
  const auto bytes = static_cast<double>(moved_bytes(call));
  return is_in_node ? hardware.nvlink_latency + on_link(hardware, bytes, hardware.nvlink_bandwidth)
                    : hardware.network_latency + on_link(hardware, bytes, hardware.network_bandwidth);
}

TransferCosts::TransferCosts(const Layout& layout, const Agents& agents, const Hardware& hardware)
    : layout_(layout), agents_(agents), hardware_(hardware), crosses_nodes_(agents.all().size()) {
  find_spreads();
  find_crossings();
  for (std::size_t agent = 0; agent < agents.all().size(); ++agent) {
    const Agent& self = agents.all()[agent];
    const std::vector<RehearsedCall>& calls = layout.ranks()[self.rehearsed].calls;
    std::vector<double>& seconds = seconds_.emplace_back();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const TranslatedCall& call = layout.calls(self.rehearsed)[i];
      const bool is_collective = call.role == TranslatedCall::Role::collective;
      if (layout.kinds()[call.kind].size() == 1) {
        seconds.push_back(0);
      } else if (is_collective) {
        const Spread& spread = spreads_[call.kind][agents.meeting_of(self.first_rank, call.kind)];
        seconds.push_back(collective_seconds(hardware, spread, calls[i]));
      } else {
        seconds.push_back(send_seconds(hardware, !crosses_nodes_[agent].at({call.kind, call.steps}), calls[i]));
      }
    }
  }
}

void TransferCosts::find_spreads() {
  for (std::uint32_t k = 0; k < layout_.kinds().size(); ++k) {
    const ChannelKind& kind = layout_.kinds()[k];
    std::vector<Spread>& spreads = spreads_.emplace_back(agents_.meetings(k).size());
    for (std::int64_t rank = 0; rank < layout_.mesh().world_size(); ++rank) {
      if (kind.leader(rank) != rank) continue;
      const Spread found = spread_of(kind, rank, hardware_.gpus_per_node);
      Spread& worst = spreads[agents_.meeting_of(rank, k)];
      if (worst.num_members == 1 || is_slower(found, worst)) worst = found;
    }
  }
}

void TransferCosts::find_crossings() {
  for (std::int64_t rank = 0; rank < layout_.mesh().world_size(); ++rank) {
    const std::int32_t color = agents_.of_ranks()[static_cast<std::size_t>(rank)];
    if (color == kNobody) continue;
    const auto agent = static_cast<std::size_t>(color);
    for (const Route& route : agents_.routes(agents_.all()[agent].rehearsed)) {
      const std::int64_t peer = layout_.kinds()[route.kind].neighbour(rank, route.steps);
      bool& crosses = crosses_nodes_[agent][route];
      crosses = crosses || peer / hardware_.gpus_per_node != rank / hardware_.gpus_per_node;
    }
  }
}

}  // namespace titan::rehearsal
