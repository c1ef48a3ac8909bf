#include "core/rehearsal/totals.hpp"

#include <map>
#include <tuple>

#include "core/rehearsal/layout.hpp"
#include "core/rehearsal/transfer_costs.hpp"

namespace titan::rehearsal {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // axes, group, op
using Sums = std::map<Key, CallTotal>;

void add(Sums& sums, const CallTotal& more, std::int64_t times) {
  CallTotal& sum =
      sums.try_emplace({more.axes, more.group, more.op}, CallTotal{more.op, more.group, more.axes, 0, 0, 0})
          .first->second;
  sum.count += more.count * times;
  sum.bytes += more.bytes * times;
  sum.sent_bytes += more.sent_bytes * static_cast<double>(times);
}

std::vector<CallTotal> list(const Sums& sums) {
  std::vector<CallTotal> found;
  for (const auto& [key, sum] : sums) found.push_back(sum);
  return found;
}

Sums sums_of(const Layout& layout, std::size_t rehearsed) {
  const RehearsedRank& rank = layout.ranks()[rehearsed];
  std::vector<std::int64_t> counts(rank.calls.size());
  for (std::size_t i = rank.first_of_step; i < rank.events.size(); ++i) {
    if (rank.events[i].waits < 0) counts[rank.events[i].call] += 1;
  }
  Sums sums;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const RehearsedCall& call = rank.calls[i];
    const ChannelKind& kind = layout.kinds()[layout.calls(rehearsed)[i].kind];
    add(sums, {call.op, call.group, kind.axes(), 1, moved_bytes(call), sent_bytes(call, kind.size())}, counts[i]);
  }
  return sums;
}

}  // namespace

Totals totals(const RehearsalReport& report, const config::Mesh& mesh) {
  const Layout layout(report, mesh);
  Totals found;
  Sums all;
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    const RehearsedRank& rank = report.ranks[i];
    const auto num_ranks = std::max<std::int64_t>(1, static_cast<std::int64_t>(rank.stands_for.size()));
    const Sums sums = sums_of(layout, i);
    const double flops = rank.flops - rank.flops_before_step;
    for (const auto& [key, sum] : sums) add(all, sum, num_ranks);
    found.flops += flops * static_cast<double>(num_ranks);
    found.ranks.push_back({rank.rank, num_ranks, flops, list(sums)});
  }
  found.calls = list(all);
  return found;
}

}  // namespace titan::rehearsal
