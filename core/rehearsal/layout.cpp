#include "core/rehearsal/layout.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/rehearsal/call_text.hpp"

namespace titan::rehearsal {
namespace {

void check_events(const RehearsedRank& rank) {
  TITAN_CHECK(rank.first_of_step <= rank.events.size(), "[rehearsal] the step begins after the last event, of rank ",
              rank.rank);
  for (std::size_t i = 0; i < rank.events.size(); ++i) {
    const RehearsedEvent& event = rank.events[i];
    const auto started = static_cast<std::size_t>(event.waits);
    const bool is_sound =
        event.call < rank.calls.size() && (event.waits < 0 || (started < i && rank.events[started].waits < 0));
    TITAN_CHECK(is_sound, "[rehearsal] no call or no start: event ", i, " of rank ", rank.rank);
  }
}

TranslatedCall::Role role_of(const RehearsedCall& call) {
  if (call.op == "send") return TranslatedCall::Role::send;
  return call.op == "recv" ? TranslatedCall::Role::receive : TranslatedCall::Role::collective;
}

}  // namespace

Layout::Layout(const RehearsalReport& report, const config::Mesh& mesh) : report_(report), mesh_(mesh) {
  set_classes();
  for (std::size_t i = 0; i < report.ranks.size(); ++i) {
    check_events(report.ranks[i]);
    translate(i);
  }
}

void Layout::set_classes() {
  classes_.assign(static_cast<std::size_t>(mesh_.world_size()), kNobody);
  for (std::size_t i = 0; i < report_.ranks.size(); ++i) {
    std::vector<std::int64_t> all = report_.ranks[i].stands_for;
    if (all.empty()) all.push_back(report_.ranks[i].rank);
    TITAN_CHECK(std::ranges::find(all, report_.ranks[i].rank) != all.end(),
                "[rehearsal] a rank does not stand for itself: ", report_.ranks[i].rank);
    for (const std::int64_t rank : all) {
      TITAN_CHECK(rank >= 0 && rank < mesh_.world_size(), "[rehearsal] no such rank: ", rank);
      std::int32_t& of_rank = classes_[static_cast<std::size_t>(rank)];
      TITAN_CHECK(of_rank == kNobody, "[rehearsal] two stand for rank ", rank);
      of_rank = static_cast<std::int32_t>(i);
    }
  }
  is_whole_ = std::ranges::find(classes_, kNobody) == classes_.end();
}

std::uint32_t Layout::kind_of(const std::string& channel) {
  const std::string head = channel.substr(0, channel.find('/'));
  const auto known = kind_names_.find(head);
  if (known != kind_names_.end()) return known->second;
  const ChannelKind kind(channel, mesh_);
  // The whole world is named so also where it has one axis only.
  const auto same = std::ranges::find(kinds_, kind.axes(), &ChannelKind::axes);
  const auto index = static_cast<std::uint32_t>(same - kinds_.begin());
  if (same == kinds_.end()) kinds_.push_back(kind);
  kind_names_.emplace(head, index);
  return index;
}

void Layout::translate(std::size_t rehearsed) {
  const RehearsedRank& rank = report_.ranks[rehearsed];
  for (const auto& [name, members] : rank.channels) {
    TITAN_CHECK(kinds_[kind_of(name)].members(rank.rank) == members,
                "[rehearsal] the members of a channel are not those that its name means: ", printable(name));
  }
  std::vector<TranslatedCall>& calls = calls_.emplace_back();
  for (const RehearsedCall& call : rank.calls) {
    TranslatedCall translated{role_of(call), kind_of(call.channel), 0, 0};
    const auto next = static_cast<std::uint32_t>(signatures_.size());
    translated.signature = signatures_.emplace(signature_of(call), next).first->second;
    if (translated.role != TranslatedCall::Role::collective) {
      const ChannelKind& kind = kinds_[translated.kind];
      TITAN_CHECK(call.peer >= 0 && call.peer < mesh_.world_size() && kind.leader(call.peer) == kind.leader(rank.rank),
                  "[rehearsal] the peer is no member of the channel: rank ", call.peer, ", ", printable(call.channel));
      translated.steps = kind.wrapped(kind.position(call.peer) - kind.position(rank.rank));
    }
    calls.push_back(translated);
  }
}

std::vector<Meeting> Layout::meetings(const ChannelKind& kind, const Colors& colors,
                                      std::vector<std::int32_t>* of_ranks) const {
  std::vector<Meeting> found;
  std::map<std::vector<std::int32_t>, std::int32_t> numbers;
  if (of_ranks != nullptr) of_ranks->assign(colors.size(), kNobody);
  std::vector<std::int32_t> met;
  for (std::int64_t rank = 0; rank < mesh_.world_size(); ++rank) {
    if (kind.leader(rank) != rank) continue;
    met.clear();
    for (std::int64_t i = 0; i < kind.size(); ++i)
      met.push_back(colors[static_cast<std::size_t>(kind.member(rank, i))]);
    std::ranges::sort(met);
    met.erase(std::unique(met.begin(), met.end()), met.end());
    const auto [entry, is_new] = numbers.emplace(met, static_cast<std::int32_t>(found.size()));
    if (is_new) found.push_back({met, rank});
    if (of_ranks == nullptr) continue;
    for (std::int64_t i = 0; i < kind.size(); ++i) {
      (*of_ranks)[static_cast<std::size_t>(kind.member(rank, i))] = entry->second;
    }
  }
  return found;
}

}  // namespace titan::rehearsal
