#include "core/rehearsal/transfer_costs.hpp"

#include <algorithm>
#include <map>
#include <set>

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

bool is_in_node(std::int64_t one, std::int64_t other, std::int64_t gpus_per_node) {
  return one / gpus_per_node == other / gpus_per_node;
}

/// A number for each way in which channels of a kind are spread.
Colors spread_colors(const ChannelKind& kind, std::size_t num_ranks, std::int64_t gpus_per_node) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> numbers;
  Colors colors(num_ranks, kNobody);
  for (std::size_t i = 0; i < num_ranks; ++i) {
    const auto rank = static_cast<std::int64_t>(i);
    if (kind.leader(rank) != rank) continue;
    const Spread spread = spread_of(kind, rank, gpus_per_node);
    const auto next = static_cast<std::int32_t>(numbers.size());
    const std::int32_t color = numbers.try_emplace({spread.num_nodes, spread.least_in_node}, next).first->second;
    for (std::int64_t at = 0; at < kind.size(); ++at) colors[static_cast<std::size_t>(kind.member(rank, at))] = color;
  }
  return colors;
}

/// Whether a rank's transfers to where a call of its class goes leave its node.
Colors crossing_colors(const Layout& layout, const Route& route, std::int64_t gpus_per_node) {
  const ChannelKind& kind = layout.kinds()[route.kind];
  Colors colors;
  for (std::int64_t rank = 0; rank < layout.mesh().world_size(); ++rank) {
    colors.push_back(is_in_node(rank, kind.neighbour(rank, route.steps), gpus_per_node) ? 0 : 1);
  }
  return colors;
}

/// Of the calls that one rank starts.
class RankCosts {
 public:
  RankCosts(const Layout& layout, const Hardware& hardware, std::int64_t rank)
      : layout_(layout), hardware_(hardware), rank_(rank), spreads_(layout.kinds().size()) {}

  double seconds(const TranslatedCall& translated, const RehearsedCall& call) {
    const ChannelKind& kind = layout_.kinds()[translated.kind];
    if (kind.size() == 1) return 0;
    if (translated.role != TranslatedCall::Role::collective) {
      const std::int64_t peer = kind.neighbour(rank_, translated.steps);
      return send_seconds(hardware_, is_in_node(rank_, peer, hardware_.gpus_per_node), call);
    }
    Spread& spread = spreads_[translated.kind];
    if (spread.num_members == 1) spread = spread_of(kind, kind.leader(rank_), hardware_.gpus_per_node);
    return collective_seconds(hardware_, spread, call);
  }

 private:
  const Layout& layout_;
  const Hardware& hardware_;
  std::int64_t rank_;
  std::vector<Spread> spreads_;  // by kind
};

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

std::vector<Colors> link_features(const Layout& layout, std::int64_t gpus_per_node) {
  std::set<Route> routes;
  for (std::size_t i = 0; i < layout.ranks().size(); ++i) {
    for (const TranslatedCall& call : layout.calls(i)) {
      if (call.role != TranslatedCall::Role::collective) routes.insert({call.kind, call.steps});
    }
  }
  std::vector<Colors> features;
  for (const ChannelKind& kind : layout.kinds()) {
    features.push_back(spread_colors(kind, layout.classes().size(), gpus_per_node));
  }
  for (const Route& route : routes) features.push_back(crossing_colors(layout, route, gpus_per_node));
  return features;
}

TransferCosts::TransferCosts(const Layout& layout, const Agents& agents, const Hardware& hardware) {
  for (const Agent& agent : agents.all()) {
    const std::vector<RehearsedCall>& calls = layout.ranks()[agent.rehearsed].calls;
    std::vector<double>& seconds = seconds_.emplace_back();
    RankCosts costs(layout, hardware, agent.first_rank);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      seconds.push_back(costs.seconds(layout.calls(agent.rehearsed)[i], calls[i]));
    }
  }
}

}  // namespace titan::rehearsal
