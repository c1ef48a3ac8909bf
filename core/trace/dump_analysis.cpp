#include "core/trace/dump_analysis.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace titan::trace {
namespace {

using Ranks = std::vector<std::int64_t>;

// Ranks may pass different shapes to these.
constexpr std::array<std::string_view, 10> kOfAnyShape = {
    "all_to_all", "alltoall",  "alltoall_base", "all_to_all_single",   "gather",
    "scatter",    "coalesced", "barrier",       "ALLGATHER_coalesced", "ALLTOALL_BASE"};

bool has(const Ranks& ranks, std::int64_t rank) { return std::binary_search(ranks.begin(), ranks.end(), rank); }

/// The calls of one rank in one group.
struct RankCalls {
  std::map<std::int64_t, const Call*> collectives;  // by sequence number
};

/// A direction between two ranks of a group.
struct Pair {
  std::int64_t source, target;
  auto operator<=>(const Pair&) const = default;
};
struct Transfers {
  std::vector<const Call*> sends, receives;
};

constexpr std::int64_t kAnotherTimeNs = std::int64_t{600} * 1'000'000'000;

class Analyser {
 public:
  explicit Analyser(const Dumps& dumps) : dumps_(dumps) {
    for (const Dump& dump : dumps.ranks) by_rank_.emplace(dump.rank, &dump);
  }

  Analysis analyse() {
    collect();
    list_ranks();
    find_another_time();
    for (std::size_t group = 0; group < analysis_.groups.size(); ++group) {
      compare_collectives(group);
      compare_transfers(group);
    }
    std::stable_sort(analysis_.findings.begin(), analysis_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.created_ns < b.created_ns; });
    put_cause_first();
    return std::move(analysis_);
  }

 private:
  // Groups and ranks.

  void collect() {
    std::map<std::pair<std::string, Ranks>, std::size_t> numbers;
    for (const Dump& dump : dumps_.ranks) {
      std::vector<std::size_t> group_numbers;
      for (const DumpGroup& group : dump.groups) {
        const auto [found, is_new] = numbers.try_emplace({group.name, group.ranks}, analysis_.groups.size());
        if (is_new) {
          analysis_.groups.emplace_back();
          static_cast<DumpGroup&>(analysis_.groups.back()) = group;
          calls_.emplace_back();
          transfers_.emplace_back();
        }
        group_numbers.push_back(found->second);
      }
      for (const Call& call : dump.calls) add_call(dump, call, group_numbers[call.group]);
    }
    for (std::size_t group = 0; group < analysis_.groups.size(); ++group) complete(group);
  }

  void add_call(const Dump& dump, const Call& call, std::size_t group) {
    ++analysis_.groups[group].num_calls;
    if (const std::string_view title = dumps_.text(call.title); !title.empty()) {
      analysis_.groups[group].titles.emplace(title);
    }
    if (!call.is_p2p) {
      calls_[group][dump.rank].collectives.emplace(call.sequence, &call);
      return;
    }
    const bool is_send = dumps_.text(call.op) == "send";
    const std::optional<Pair> pair = pair_of(dump.rank, call, is_send, analysis_.groups[group].ranks);
    if (!pair) return;
    Transfers& transfers = transfers_[group][*pair];
    (is_send ? transfers.sends : transfers.receives).push_back(&call);
  }

  /// Global ranks of a send or receive; a dump names them by their places in the group, or as they are. Nothing when
  /// the rank of the dump is not its own side of it.
  static std::optional<Pair> pair_of(std::int64_t rank, const Call& call, bool is_send, const Ranks& ranks) {
    if (call.source < 0 || call.target < 0) return std::nullopt;
    const auto global = [&](std::int64_t place) {
      return static_cast<std::size_t>(place) < ranks.size() ? ranks[static_cast<std::size_t>(place)] : place;
    };
    for (const Pair pair : {Pair{global(call.source), global(call.target)}, Pair{call.source, call.target}}) {
      if ((is_send ? pair.source : pair.target) == rank) return pair;
    }
    return std::nullopt;
  }

  /// Ranks of a group that no dump lists are those that called it.
  void complete(std::size_t number) {
    Group& group = analysis_.groups[number];
    for (const auto& [rank, calls] : calls_[number]) {
      if (!has(group.ranks, rank))
        group.ranks.insert(std::upper_bound(group.ranks.begin(), group.ranks.end(), rank), rank);
      if (calls.collectives.empty()) continue;
      const std::int64_t first = calls.collectives.begin()->first, last = calls.collectives.rbegin()->first;
      group.first = group.first == 0 ? first : std::min(group.first, first);
      group.last = std::max(group.last, last);
    }
  }

  void list_ranks() {
    std::set<std::int64_t> all;
    std::int64_t told = 0;
    for (const Dump& dump : dumps_.ranks) {
      all.insert(dump.rank);
      if (dump.facts) told = std::max(told, dump.facts->world_size);
    }
    for (const UnreadableDump& dump : dumps_.unreadable) all.insert(dump.rank);
    for (const Group& group : analysis_.groups) all.insert(group.ranks.begin(), group.ranks.end());
    for (std::int64_t rank = 0; told <= kMostTold && rank < told; ++rank) all.insert(rank);
    analysis_.world_size = std::max<std::int64_t>(told, static_cast<std::int64_t>(all.size()));
    for (const std::int64_t rank : all) analysis_.ranks.push_back(state_of(rank));
    for (const Group& group : analysis_.groups) {
      dumped_.emplace_back();
      for (const Dump& dump : dumps_.ranks) {
        if (has(group.ranks, dump.rank)) dumped_.back().push_back(dump.rank);
      }
      std::sort(dumped_.back().begin(), dumped_.back().end());
    }
  }

  RankState state_of(std::int64_t rank) {
    RankState state{.rank = rank};
    state.dump = dump_of(rank);
    if (state.dump == nullptr) {
      analysis_.without_dump.push_back(rank);
      return state;
    }
    for (const Call& call : state.dump->calls) {
      state.last = &call;
      if (state.open == nullptr && !call.is_done) state.open = &call;
      analysis_.has_open = analysis_.has_open || !call.is_done;
    }
    return state;
  }

  /// Ranks of one run wait for each other: none ends long before another one begins.
  void find_another_time() {
    std::int64_t earliest_end = 0;
    for (const Dump& dump : dumps_.ranks) {
      if (dump.calls.empty()) continue;
      const std::int64_t end = dump.calls.back().created_ns;
      if (earliest_end == 0 || end < earliest_end) earliest_end = end;
    }
    for (const Dump& dump : dumps_.ranks) {
      if (dump.calls.empty()) continue;
      if (dump.calls.front().created_ns > earliest_end + kAnotherTimeNs) {
        analysis_.after.push_back(dump.rank);
      } else if (dump.calls.back().created_ns < earliest_end + kAnotherTimeNs) {
        analysis_.before.push_back(dump.rank);
      }
    }
    if (analysis_.after.empty()) analysis_.before.clear();
  }

  // Collectives.

  void compare_collectives(std::size_t number) {
    std::set<std::int64_t> sequences;
    for (const auto& [rank, calls] : calls_[number]) {
      for (const auto& [sequence, call] : calls.collectives) sequences.insert(sequence);
    }
    for (const std::int64_t sequence : sequences) {
      Finding finding = finding_at(number, sequence);
      if (!judge(finding)) {
        ++(finding.callers.size() == dumped_[number].size() ? analysis_.num_matched : analysis_.num_partial);
        continue;
      }
      // What comes after it in this group follows from it.
      analysis_.findings.push_back(std::move(finding));
      return;
    }
  }

  Finding finding_at(std::size_t number, std::int64_t sequence) const {
    Finding finding;
    finding.group = number;
    finding.sequence = sequence;
    for (const std::int64_t rank : dumped_[number]) {
      const auto calls = calls_[number].find(rank);
      if (calls == calls_[number].end() || calls->second.collectives.empty()) {
        finding.late.push_back(rank);
        finding.before.push_back(nullptr);
        continue;
      }
      const std::map<std::int64_t, const Call*>& collectives = calls->second.collectives;
      const auto found = collectives.find(sequence);
      if (found != collectives.end()) {
        add_caller(finding, rank, *found->second);
      } else if (sequence > collectives.begin()->first) {
        // Those before the first were forgotten.
        finding.late.push_back(rank);
        finding.before.push_back(collectives.rbegin()->second);
      }
    }
    return finding;
  }

  void add_caller(Finding& finding, std::int64_t rank, const Call& call) const {
    finding.calls.push_back(&call);
    finding.callers.push_back(rank);
    if (!call.is_done) finding.waiting.push_back(rank);
    if (finding.op.empty()) {
      finding.op = dumps_.text(call.op);
      finding.title = dumps_.text(call.title);
    }
    if (finding.created_ns == 0 || call.created_ns < finding.created_ns) finding.created_ns = call.created_ns;
  }

  /// Whether something is wrong with the call.
  bool judge(Finding& finding) const {
    finding.difference = difference(finding);
    if (!finding.difference.empty()) {
      finding.problem = Problem::mismatch;
      return true;
    }
    // Done for one, done for all, as far as it can be: dumps are not of one moment.
    if (finding.waiting.empty()) return false;
    std::set_difference(analysis_.groups[finding.group].ranks.begin(), analysis_.groups[finding.group].ranks.end(),
                        dumped_[finding.group].begin(), dumped_[finding.group].end(),
                        std::back_inserter(finding.without_dump));
    const bool has_absent = !finding.late.empty() || !finding.without_dump.empty();
    finding.problem = has_absent ? Problem::not_reached : Problem::not_complete;
    return true;
  }

  std::string difference(const Finding& finding) const {
    for (const Call* call : finding.calls) {
      if (call->op != finding.calls.front()->op) return "operations";
      if (call->title != finding.calls.front()->title) return "groups";
    }
    if (std::find(kOfAnyShape.begin(), kOfAnyShape.end(), finding.op) != kOfAnyShape.end()) return {};
    for (const Call* call : finding.calls) {
      const bool is_same = call->input == finding.calls.front()->input;
      if (!is_same) return "shapes or dtypes";
    }
    return {};
  }

  // Sends and receives.

  void compare_transfers(std::size_t number) {
    for (const auto& [pair, transfers] : transfers_[number]) {
      const bool has_both = !has(analysis_.without_dump, pair.source) && !has(analysis_.without_dump, pair.target);
      if (!can_number(pair.source) || !can_number(pair.target)) {
        find_open(number, pair, transfers);
        continue;
      }
      const std::map<std::int64_t, const Call*> sends = numbered(transfers.sends, pair.source);
      const std::map<std::int64_t, const Call*> receives = numbered(transfers.receives, pair.target);
      std::set<std::int64_t> sequences;
      for (const auto& [sequence, call] : sends) sequences.insert(sequence);
      for (const auto& [sequence, call] : receives) sequences.insert(sequence);
      for (const std::int64_t sequence : sequences) {
        Finding finding = transfer_at(number, pair, sequence);
        add_side(finding, sends, sequence, pair.source);
        add_side(finding, receives, sequence, pair.target);
        if (!judge_transfer(finding, has_both)) continue;
        analysis_.findings.push_back(std::move(finding));
        break;
      }
    }
  }

  const Dump* dump_of(std::int64_t rank) const {
    const auto found = by_rank_.find(rank);
    return found == by_rank_.end() ? nullptr : found->second;
  }

  /// Whether it is known which send or receive of a pair one is: titan counts them, and whole dumps have all.
  bool can_number(std::int64_t rank) const {
    const Dump* dump = dump_of(rank);
    return dump == nullptr || dump->facts || dump->is_whole;
  }

  std::map<std::int64_t, const Call*> numbered(const std::vector<const Call*>& calls, std::int64_t rank) const {
    std::map<std::int64_t, const Call*> found;
    const Dump* dump = dump_of(rank);
    const bool is_ours = dump != nullptr && dump->facts;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      found.emplace(is_ours ? calls[i]->sequence : static_cast<std::int64_t>(i) + 1, calls[i]);
    }
    return found;
  }

  /// Where calls cannot be matched: the first that is not over.
  void find_open(std::size_t number, const Pair& pair, const Transfers& transfers) {
    for (const auto& [calls, rank] : {std::pair(&transfers.sends, pair.source), {&transfers.receives, pair.target}}) {
      const auto open = std::find_if(calls->begin(), calls->end(), [](const Call* call) { return !call->is_done; });
      if (open == calls->end()) continue;
      Finding finding = transfer_at(number, pair, (*open)->sequence);
      add_caller(finding, rank, **open);
      finding.problem = Problem::not_complete;
      analysis_.findings.push_back(std::move(finding));
      return;
    }
  }

  static Finding transfer_at(std::size_t number, const Pair& pair, std::int64_t sequence) {
    Finding finding;
    finding.group = number;
    finding.is_p2p = true;
    finding.sequence = sequence;
    finding.source = pair.source;
    finding.target = pair.target;
    return finding;
  }

  void add_side(Finding& finding, const std::map<std::int64_t, const Call*>& calls, std::int64_t sequence,
                std::int64_t rank) const {
    const auto found = calls.find(sequence);
    if (found != calls.end()) return add_caller(finding, rank, *found->second);
    if (has(analysis_.without_dump, rank)) {
      finding.without_dump.push_back(rank);
    } else if (calls.empty() || sequence > calls.begin()->first) {
      finding.late.push_back(rank);
      finding.before.push_back(calls.empty() ? nullptr : calls.rbegin()->second);
    }
  }

  // A send has what it sends as its input, a receive as its output; writers may fill the other one alone.
  std::uint32_t sent(const Call& call) const { return dumps_.text(call.input).empty() ? call.output : call.input; }
  std::uint32_t received(const Call& call) const { return dumps_.text(call.output).empty() ? call.input : call.output; }

  bool judge_transfer(Finding& finding, bool has_both) const {
    if (finding.calls.size() == 2 && sent(*finding.calls[0]) != received(*finding.calls[1])) {
      finding.problem = Problem::mismatch;
      finding.difference = "shapes or dtypes";
      return true;
    }
    // A send may be over before anybody receives; that its receive never came is wrong all the same.
    const bool is_unmatched = has_both && finding.late.size() == 1;
    if (finding.waiting.empty() && !is_unmatched) return false;
    const bool has_absent = !finding.late.empty() || !finding.without_dump.empty();
    finding.problem = has_absent ? Problem::not_reached : Problem::not_complete;
    return true;
  }

  // The cause.

  /// The finding in which the rank waits, or nothing.
  std::size_t finding_of(std::int64_t rank) const {
    std::size_t at = 0;
    while (at < analysis_.findings.size() && !has_any(analysis_.findings[at].waiting, rank)) ++at;
    return at;
  }
  static bool has_any(const Ranks& ranks, std::int64_t rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }

  /// From who waits to whom it waits for, until somebody waits for nobody: that is where to look.
  void put_cause_first() {
    std::vector<Finding>& findings = analysis_.findings;
    if (findings.empty()) return;
    std::size_t cause = 0;
    const auto mismatch = std::find_if(findings.begin(), findings.end(),
                                       [](const Finding& finding) { return finding.problem == Problem::mismatch; });
    if (mismatch != findings.end()) {
      cause = static_cast<std::size_t>(mismatch - findings.begin());
    } else {
      cause = follow();
    }
    std::rotate(findings.begin(), findings.begin() + static_cast<std::ptrdiff_t>(cause),
                findings.begin() + static_cast<std::ptrdiff_t>(cause) + 1);
  }

  std::size_t follow() {
    const std::vector<Finding>& findings = analysis_.findings;
    std::size_t at = 0;
    std::set<std::size_t> seen;
    for (;;) {
      const Finding& finding = findings[at];
      if (!seen.insert(at).second) {
        analysis_.is_circle = true;
        return at;
      }
      if (!finding.waiting.empty()) analysis_.chain.push_back(finding.waiting.front());
      std::size_t next = findings.size();
      for (const std::int64_t rank : finding.late) {
        next = finding_of(rank);
        if (next == findings.size()) return at;  // this one waits for nobody
      }
      if (next == findings.size() || !finding.without_dump.empty()) return at;
      at = next;
    }
  }

  static constexpr std::int64_t kMostTold = 16'384;  // ranks that are listed because a dump says that they exist

  const Dumps& dumps_;
  std::map<std::int64_t, const Dump*> by_rank_;
  Analysis analysis_;
  std::vector<Ranks> dumped_;                             // of each group the ranks that have dumps
  std::vector<std::map<std::int64_t, RankCalls>> calls_;  // of each group, by rank
  std::vector<std::map<Pair, Transfers>> transfers_;      // of each group
};

}  // namespace

Analysis analyse(const Dumps& dumps) { return Analyser(dumps).analyse(); }

}  // namespace titan::trace
