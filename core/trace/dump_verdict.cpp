#include "core/trace/dump_verdict.hpp"

#include <algorithm>
#include <map>

#include "core/base/listing.hpp"
#include "core/base/number_runs.hpp"
#include "core/base/text.hpp"

namespace titan::trace {
namespace {

constexpr std::size_t kMostRanks = 8;  // that get a line of their own

std::string rank_word(const std::vector<std::int64_t>& ranks) {
  return concat(ranks.size() == 1 ? "rank " : "ranks ", ranks_text(ranks));
}

std::string_view tensors_of(const Dumps& dumps, const Call& call) {
  return dumps.text(dumps.text(call.input).empty() ? call.output : call.input);
}

class Verdict {
 public:
  Verdict(const Dumps& dumps, const Analysis& analysis) : dumps_(dumps), analysis_(analysis) {}

  std::string text() {
    if (analysis_.is_consistent()) {
      nothing_wrong();
    } else if (analysis_.findings.empty()) {
      only_open();
    } else {
      const Finding& cause = analysis_.findings.front();
      note_requests();
      line(finding_text(dumps_, analysis_, cause));
      describe(cause);
      tell_chain();
      tell_reason(cause);
      advise(cause);
    }
    note_unreadable();
    note_other_runs();
    note_another_time();
    return std::move(text_);
  }

 private:
  template <class... Parts>
  void line(const Parts&... parts) {
    text_ += concat(parts..., "\n");
  }

  void nothing_wrong() {
    if (analysis_.num_matched == 0 && analysis_.num_partial > 0) {
      line("nothing could be compared in these dumps: no call is in all of them, ranks have dropped older ones");
      line("next: keep more calls: --comm.trace_buf_size");
      return;
    }
    const std::size_t num_dumps = dumps_.ranks.size();
    const bool is_one = analysis_.num_matched == 1;
    line("nothing is wrong in ", num_dumps == 1 ? "this dump" : "these dumps", ": ", num_dumps,
         num_dumps == 1 ? " rank, " : " ranks, ", analysis_.num_matched,
         is_one ? " collective matches and is complete" : " collectives match and are complete");
    if (analysis_.num_partial > 0) {
      line("  not compared: ", analysis_.num_partial, analysis_.num_partial == 1 ? " call that is" : " calls that are",
           " not in all dumps: dropped (--comm.trace_buf_size keeps more), or not reached yet");
    }
    const std::vector<std::int64_t> missing = without_file(analysis_.without_dump);
    if (!missing.empty()) {
      line("  not known: what ", rank_word(missing), " did, there is no dump of ", missing.size() == 1 ? "it" : "them");
    }
  }

  /// Calls that cannot be compared, because no peer or no number is known of them.
  void only_open() {
    note_requests();
    line("nothing differs in these dumps, but not everything is complete:");
    std::size_t count = 0;
    for (const RankState& state : analysis_.ranks) {
      if (state.open == nullptr || ++count > kMostRanks) continue;
      line("  rank ", state.rank, " waits in ", call_text(dumps_, *state.open), origin(*state.open));
      tell_place(state.rank);
    }
  }

  void describe(const Finding& finding) {
    if (finding.problem == Problem::mismatch) return describe_mismatch(finding);
    const Call& call = *finding.calls.front();
    const std::string_view tensors = tensors_of(dumps_, call);
    if (!tensors.empty()) line("  the call is of ", printable(tensors), origin(call));
    for (std::size_t i = 0; i < std::min(finding.late.size(), kMostRanks); ++i) {
      describe_late(finding.late[i], finding.before[i]);
    }
    if (finding.problem == Problem::not_complete) {
      for (std::size_t i = 0; i < std::min(finding.waiting.size(), kMostRanks); ++i) tell_place(finding.waiting[i]);
    }
    if (const std::vector<std::int64_t> missing = without_file(finding.without_dump); !missing.empty()) {
      line("  ", rank_word(missing), " left no dump: killed, stopped, or not able to write");
    }
    for (const Dump& dump : dumps_.older) {
      line("  rank ", dump.rank, " left an older dump alone, asked for before, when it was at ",
           printable(dump.facts->place));
    }
  }

  /// Those of the ranks that left no file at all.
  std::vector<std::int64_t> without_file(std::vector<std::int64_t> ranks) const {
    std::erase_if(ranks, [this](std::int64_t rank) {
      return std::any_of(dumps_.unreadable.begin(), dumps_.unreadable.end(),
                         [rank](const UnreadableDump& dump) { return dump.rank == rank; });
    });
    return ranks;
  }

  void note_unreadable() {
    for (const UnreadableDump& dump : dumps_.unreadable) {
      line("not known: what rank ", dump.rank, " did, its dump cannot be used: ", dump.reason);
    }
  }

  void note_another_time() {
    if (analysis_.after.empty()) return;
    line("these may be dumps of different runs: those of ", rank_word(analysis_.before),
         " end more than ten minutes before those of ", rank_word(analysis_.after), " begin");
  }

  void describe_late(std::int64_t rank, const Call* before) {
    const RankState* state = state_of(rank);
    if (state == nullptr || state->dump == nullptr) return;
    if (before == nullptr) {
      line("  rank ", rank, " made no call there");
    } else {
      line("  rank ", rank, ": its last call there was ", call_text(dumps_, *before), ", ", state_text(dumps_, *before),
           origin(*before));
    }
    if (state->open != nullptr) {
      line("  rank ", rank, " waits in ", call_text(dumps_, *state->open), origin(*state->open));
    } else if (state->last != nullptr && state->last != before) {
      line("  rank ", rank, ": its last call of all was ", call_text(dumps_, *state->last), origin(*state->last));
    }
    tell_place(rank);
  }

  void tell_place(std::int64_t rank) {
    const RankState* state = state_of(rank);
    if (state == nullptr || state->dump == nullptr || !state->dump->facts) return;
    const DumpFacts& facts = *state->dump->facts;
    if (!facts.place.empty()) line("  rank ", rank, " is at ", printable(facts.place));
  }

  /// Where a call was made, as far as its dump says.
  std::string origin(const Call& call) const {
    std::string text;
    const std::string_view module = dumps_.text(call.module), place = dumps_.text(call.place);
    if (!module.empty()) text += concat(", for ", printable(module));
    if (!place.empty()) text += concat(", by ", printable(place));
    return text;
  }

  void describe_mismatch(const Finding& finding) {
    std::map<std::string, std::vector<std::int64_t>> forms;
    for (std::size_t i = 0; i < finding.calls.size(); ++i) {
      const Call& call = *finding.calls[i];
      forms[concat(printable(dumps_.text(call.op)), " ", printable(tensors_of(dumps_, call)), " of ",
                   printable(dumps_.text(call.title)), origin(call))]
          .push_back(finding.callers[i]);
    }
    for (const auto& [form, ranks] : forms) line("  ", rank_word(ranks), ": ", form);
    for (std::size_t i = 0; i < std::min(finding.callers.size(), kMostRanks); ++i) tell_place(finding.callers[i]);
  }

  void tell_chain() {
    if (analysis_.is_circle) {
      line("  the ranks wait for each other in a circle: ", rank_word(analysis_.chain));
    } else if (analysis_.chain.size() > 1) {
      std::string chain;
      for (const std::int64_t rank : analysis_.chain)
        chain += concat(chain.empty() ? "" : " waits for ", "rank ", rank);
      line("  the others follow from it: ", chain, " waits for that");
    }
  }

  /// What a rank that waited said when it gave up.
  void tell_reason(const Finding& cause) {
    for (const std::int64_t rank : cause.waiting) {
      const RankState* state = state_of(rank);
      if (state == nullptr || state->dump == nullptr || !state->dump->facts || state->dump->facts->reason.empty())
        continue;
      // Nobody gave up in a run that was only looked at.
      if (state->dump->facts->cause == "request" || state->dump->facts->cause == "exit") continue;
      for (const std::string& part : split(state->dump->facts->reason, '\n')) {
        line("  rank ", rank, " said: ", printable(part));
      }
      return;
    }
  }

  void advise(const Finding& cause) {
    if (cause.problem == Problem::mismatch) {
      line(
          "next: make the ranks call the same there: look for a branch that not all ranks take, or data of different "
          "shapes");
    } else if (!cause.without_dump.empty()) {
      line("next: read the log of ", rank_word(cause.without_dump), ", and its file in the folder errors of the run");
    } else if (cause.problem == Problem::not_complete) {
      line("next: see whether a rank was stopped, and whether the network between ",
           rank_word(analysis_.groups[cause.group].ranks), " works");
    } else {
      line("next: see what ", rank_word(cause.late), " did instead: its log, or GDB where it still runs");
    }
  }

  void note_requests() {
    const auto is_asked_for = [](const Dump& dump) { return dump.facts && dump.facts->cause == "request"; };
    if (!std::any_of(dumps_.ranks.begin(), dumps_.ranks.end(), is_asked_for)) return;
    line(
        "these dumps were asked for while the run went on, so what follows may be no fault: a rank that is a moment "
        "behind looks like one that hangs; ask again, and see whether it is still there");
  }

  void note_other_runs() {
    std::vector<std::int64_t> ranks;
    for (const Dump& dump : dumps_.others) ranks.push_back(dump.rank);
    if (ranks.empty()) return;
    line("left out: ", ranks.size() == 1 ? "the dump of " : "the dumps of ", rank_word(ranks),
         ", of another run in the same folder, which had another number of ranks");
  }

  const RankState* state_of(std::int64_t rank) const {
    const auto found = std::find_if(analysis_.ranks.begin(), analysis_.ranks.end(),
                                    [&](const RankState& state) { return state.rank == rank; });
    return found == analysis_.ranks.end() ? nullptr : &*found;
  }

  const Dumps& dumps_;
  const Analysis& analysis_;
  std::string text_;
};

/// "all_reduce number 4 of fsdp (ranks 0-3)".
std::string named(const Analysis& analysis, const Finding& finding) {
  const Group& group = analysis.groups[finding.group];
  return concat(printable(finding.op), " number ", finding.sequence, " of ", printable(finding.title), " (",
                rank_word(group.ranks), ")");
}

std::string transfer_text(const Finding& finding) {
  const std::string which = concat("number ", finding.sequence, " from rank ", finding.source, " to rank ",
                                   finding.target, " in ", printable(finding.title));
  if (finding.problem == Problem::mismatch)
    return concat("send and receive differ in ", finding.difference, ": ", which);
  if (finding.problem == Problem::not_complete) return concat("a ", printable(finding.op), " is not complete: ", which);
  const bool is_sent = finding.op == "send";
  const bool is_unknown = finding.late.empty();
  const std::string peer = concat("rank ", is_sent ? finding.target : finding.source);
  if (is_unknown) return concat("a ", printable(finding.op), " is not complete, and ", peer, " left no dump: ", which);
  return concat(peer, is_sent ? " never received what was sent: " : " never sent what is waited for: ", which);
}

}  // namespace

std::string ranks_text(const std::vector<std::int64_t>& ranks) { return join_first(runs_of(ranks)); }

std::string call_text(const Dumps& dumps, const Call& call) {
  const std::string_view tensors = tensors_of(dumps, call);
  std::string peers;
  if (call.source >= 0) peers = concat(" from ", call.source, " to ", call.target);
  return concat(printable(dumps.text(call.op)), peers, " number ", call.sequence, " of ",
                printable(dumps.text(call.title)), tensors.empty() ? "" : ", ", printable(tensors));
}

std::string state_text(const Dumps& dumps, const Call& call) {
  return call.is_done ? "complete" : printable(dumps.text(call.state));
}

std::string finding_text(const Dumps&, const Analysis& analysis, const Finding& finding) {
  if (finding.is_p2p) return transfer_text(finding);
  if (finding.problem == Problem::mismatch) {
    return concat("ranks call different ", finding.difference, " at number ", finding.sequence, " of ",
                  printable(finding.title), " (", rank_word(analysis.groups[finding.group].ranks), ")");
  }
  if (finding.problem == Problem::not_complete) {
    return concat(named(analysis, finding), " was called by all, and is not complete for ", rank_word(finding.waiting));
  }
  if (finding.late.empty()) {
    return concat(named(analysis, finding), " is not complete for ", rank_word(finding.waiting),
                  ": nothing is known of ", rank_word(finding.without_dump));
  }
  return concat(rank_word(finding.late), " did not reach ", named(analysis, finding), "; ", rank_word(finding.waiting),
                finding.waiting.size() == 1 ? " waits there" : " wait there");
}

std::string verdict(const Dumps& dumps, const Analysis& analysis) { return Verdict(dumps, analysis).text(); }

}  // namespace titan::trace
