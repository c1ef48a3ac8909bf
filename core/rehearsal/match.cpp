#include "core/rehearsal/match.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/listing.hpp"
#include "core/base/number_runs.hpp"
#include "core/base/text.hpp"
#include "core/rehearsal/call_text.hpp"
#include "core/rehearsal/class_calls.hpp"
#include "core/rehearsal/layout.hpp"
#include "core/rehearsal/match_text.hpp"

namespace titan::rehearsal {
namespace {

using What = Mismatch::What;

What difference(const RehearsedCall& first, const RehearsedCall& second, bool is_transfer) {
  if (!is_transfer && first.op != second.op) return What::op;
  return first.dtype != second.dtype ? What::dtype : What::sizes;
}

class Matcher {
 public:
  explicit Matcher(const Layout& layout) : layout_(layout), unknown_(layout.kinds().size()) {
    for (std::size_t i = 0; i < layout.ranks().size(); ++i) calls_.emplace_back(layout, i);
  }

  Matching run() {
    for (std::uint32_t kind = 0; kind < layout_.kinds().size(); ++kind) {
      if (layout_.kinds()[kind].size() > 1) match_collectives(kind);
    }
    match_transfers();
    note_unknown();
    count_calls();
    return std::move(found_);
  }

 private:
  const RehearsedRank& rank_of(std::int32_t color) const { return layout_.ranks()[static_cast<std::size_t>(color)]; }
  const ClassCalls& calls_of(std::int32_t color) const { return calls_[static_cast<std::size_t>(color)]; }
  const CallRow& row(std::int32_t color, std::uint32_t kind) const { return calls_of(color).collectives[kind]; }

  void match_collectives(std::uint32_t kind) {
    std::set<std::pair<std::int32_t, std::int32_t>> compared;
    for (const Meeting& meeting : layout_.meetings(layout_.kinds()[kind], layout_.classes())) {
      const bool is_used = std::ranges::any_of(
          meeting.colors, [&](std::int32_t color) { return color != kNobody && row(color, kind).size() > 0; });
      if (!is_used) continue;
      if (meeting.colors.front() == kNobody) unknown_[kind] = true;
      const std::int32_t norm = most_common(meeting, kind);
      for (const std::int32_t color : meeting.colors) {
        if (color == kNobody || row(color, kind).signatures == row(norm, kind).signatures) continue;
        if (compared.emplace(norm, color).second) report_collective(kind, meeting, norm, color);
      }
    }
  }

  /// The class whose calls most members of the channel make.
  std::int32_t most_common(const Meeting& meeting, std::uint32_t kind) const {
    const auto first = std::ranges::find_if(meeting.colors, [](std::int32_t color) { return color != kNobody; });
    const auto same = [&](std::int32_t color) {
      return color == kNobody || row(color, kind).signatures == row(*first, kind).signatures;
    };
    if (std::all_of(first, meeting.colors.end(), same)) return *first;
    std::map<std::vector<std::uint32_t>, std::pair<std::int64_t, std::int32_t>> votes;
    for (const std::int64_t rank : layout_.kinds()[kind].members(meeting.leader)) {
      const std::int32_t color = layout_.classes()[static_cast<std::size_t>(rank)];
      if (color != kNobody) votes.try_emplace(row(color, kind).signatures, 0, color).first->second.first += 1;
    }
    return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second.first; })->second.second;
  }

  Mismatch::Side side(std::int64_t rank, std::int32_t color, const CallRow& made, std::size_t at) const {
    if (at >= made.size()) return {rank, {}, {}};
    const RehearsedCall& call = rank_of(color).calls[made.calls[at]];
    return {rank, call.module, call_text(call)};
  }

  /// A member of the channel that is of the class.
  std::int64_t member_of(const Meeting& meeting, const ChannelKind& kind, std::int32_t color) const {
    for (std::int64_t i = 0; i < kind.size(); ++i) {
      const std::int64_t rank = kind.member(meeting.leader, i);
      if (layout_.classes()[static_cast<std::size_t>(rank)] == color) return rank;
    }
    return meeting.leader;
  }

  const RehearsedCall* call_at(std::int32_t color, const CallRow& made, std::size_t at) const {
    return at < made.size() ? &rank_of(color).calls[made.calls[at]] : nullptr;
  }

  /// Fills what both kinds of mismatch have. The rows differ at `at` first.
  Mismatch mismatch(const Mismatch::Side& first, const RehearsedCall* one, const Mismatch::Side& second,
                    const RehearsedCall* other, std::size_t at, bool is_transfer) const {
    Mismatch found;
    found.what = one == nullptr || other == nullptr ? What::missing : difference(*one, *other, is_transfer);
    found.channel = (one != nullptr ? one : other)->channel;
    found.number = at + 1;
    found.first = first;
    found.second = second;
    return found;
  }

  void report_collective(std::uint32_t kind, const Meeting& meeting, std::int32_t first, std::int32_t second) {
    const ChannelKind& channels = layout_.kinds()[kind];
    const CallRow &one = row(first, kind), &other = row(second, kind);
    const auto at =
        static_cast<std::size_t>(std::ranges::mismatch(one.signatures, other.signatures).in1 - one.signatures.begin());
    const RehearsedCall *first_call = call_at(first, one, at), *second_call = call_at(second, other, at);
    Mismatch found = mismatch(side(member_of(meeting, channels, first), first, one, at), first_call,
                              side(member_of(meeting, channels, second), second, other, at), second_call, at, false);
    const std::string& group = (first_call != nullptr ? first_call : second_call)->group;
    found.text = collective_text(found, group, channels.members(meeting.leader), std::min(one.size(), other.size()),
                                 split_of(first, one, second, other, at));
    found_.mismatches.push_back(std::move(found));
  }

  ModuleSplit split_of(std::int32_t first, const CallRow& one, std::int32_t second, const CallRow& other,
                       std::size_t end) const {
    for (std::size_t i = 0; i < end; ++i) {
      const std::string &mine = call_at(first, one, i)->module, &theirs = call_at(second, other, i)->module;
      if (mine != theirs) return {i + 1, mine, theirs};
    }
    return {};
  }

  void match_transfers() {
    for (std::int64_t rank = 0; rank < layout_.mesh().world_size(); ++rank) {
      const std::int32_t color = layout_.classes()[static_cast<std::size_t>(rank)];
      if (color == kNobody) continue;
      for (const auto& [route, row] : calls_of(color).sends) {
        match_route(route, rank, layout_.kinds()[route.kind].neighbour(rank, route.steps));
      }
      for (const auto& [route, row] : calls_of(color).receives) {
        const ChannelKind& kind = layout_.kinds()[route.kind];
        match_route({route.kind, kind.wrapped(-route.steps)}, kind.neighbour(rank, route.steps), rank);
      }
    }
  }

  /// `route`: from sender to receiver.
  void match_route(const Route& route, std::int64_t sender, std::int64_t receiver) {
    const std::int32_t from = layout_.classes()[static_cast<std::size_t>(sender)];
    const std::int32_t to = layout_.classes()[static_cast<std::size_t>(receiver)];
    if (from == kNobody || to == kNobody) {
      unknown_[route.kind] = true;
    } else if (routes_.emplace(route, from, to).second) {
      const Route back{route.kind, layout_.kinds()[route.kind].wrapped(-route.steps)};
      compare_route(sender, from, find(calls_of(from).sends, route), receiver, to, find(calls_of(to).receives, back));
    }
  }

  static const CallRow& find(const std::map<Route, CallRow>& rows, const Route& route) {
    static const CallRow nothing;
    const auto found = rows.find(route);
    return found == rows.end() ? nothing : found->second;
  }

  void compare_route(std::int64_t sender, std::int32_t from, const CallRow& sent, std::int64_t receiver,
                     std::int32_t to, const CallRow& received) {
    if (sent.signatures == received.signatures) return;
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(sent.signatures, received.signatures).in1 -
                                             sent.signatures.begin());
    const RehearsedCall *send = call_at(from, sent, at), *receive = call_at(to, received, at);
    Mismatch found = mismatch(side(sender, from, sent, at), send, side(receiver, to, received, at), receive, at, true);
    found.text = transfer_text(found, (send != nullptr ? send : receive)->group);
    found_.mismatches.push_back(std::move(found));
  }

  void note_unknown() {
    std::vector<std::int64_t> nobody;
    for (std::int64_t rank = 0; rank < layout_.mesh().world_size(); ++rank) {
      if (layout_.classes()[static_cast<std::size_t>(rank)] == kNobody) nobody.push_back(rank);
    }
    if (nobody.empty()) return;
    std::vector<std::string> axes;
    for (std::size_t kind = 0; kind < unknown_.size(); ++kind) {
      if (unknown_[kind]) axes.push_back(layout_.kinds()[kind].axes());
    }
    if (axes.empty()) return;
    found_.not_compared.push_back(concat(ranks_text(nobody), nobody.size() == 1 ? " was" : " were",
                                         " not rehearsed: calls along ", join_first(axes),
                                         " are not held against theirs"));
  }

  void count_calls() {
    std::vector<std::uint64_t> num_ranks(calls_.size());
    for (const std::int32_t color : layout_.classes()) {
      if (color != kNobody) num_ranks[static_cast<std::size_t>(color)] += 1;
    }
    const auto counts = [&](std::size_t kind) { return layout_.kinds()[kind].size() > 1 && !unknown_[kind]; };
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      std::uint64_t count = 0;
      for (std::size_t kind = 0; kind < unknown_.size(); ++kind) {
        if (counts(kind)) count += calls_[i].collectives[kind].size();
      }
      for (const auto* side : {&calls_[i].sends, &calls_[i].receives}) {
        for (const auto& [route, row] : *side) count += counts(route.kind) ? row.size() : 0;
      }
      found_.num_calls += count * num_ranks[i];
    }
  }

  const Layout& layout_;
  std::vector<ClassCalls> calls_;
  std::vector<bool> unknown_;  // by kind: a member of a channel that is used is not known
  std::set<std::tuple<Route, std::int32_t, std::int32_t>> routes_;
  Matching found_;
};

}  // namespace

Matching match(const RehearsalReport& report, const config::Mesh& mesh) {
  const Layout layout(report, mesh);
  return Matcher(layout).run();
}

}  // namespace titan::rehearsal
