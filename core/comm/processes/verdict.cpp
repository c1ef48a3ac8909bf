#include <algorithm>

#include "core/base/text.hpp"
#include "core/comm/description.hpp"
#include "core/comm/processes/inquiry.hpp"

namespace titan::comm {
namespace {

// Of very many ranks the first tell enough.
constexpr std::size_t kMostLines = 12;

std::string with_module(const LoggedCall& call) {
  return call.module.empty() ? call.signature : concat(call.signature, " in module ", call.module);
}

std::string with_sequence(const LoggedCall* call) {
  return call == nullptr ? "none" : concat(with_module(*call), ", sequence ", call->sequence);
}

/// What a rank is doing: "step 3, backward, in layers.2; waits for all_reduce, sequence 4, ...".
std::string doing(const Answer& answer) {
  std::vector<std::string> parts;
  if (!answer.place.empty()) parts.push_back(concat("is at ", answer.place));
  if (!answer.waits.empty()) parts.push_back(concat("waits for ", answer.waits));
  if (!answer.stack.empty()) parts.push_back(concat("runs ", answer.stack));
  return join(parts, "; ");
}

/// "float32 [4]" of "send of float32 [4]".
std::string_view after_of(std::string_view signature) {
  const std::size_t at = signature.find(" of ");
  return at == std::string_view::npos ? std::string_view() : signature.substr(at + 4);
}

/// One rank's way to the verdict on a call.
class Judge {
 public:
  Judge(const WorkRecord& record, std::int64_t rank, const CallHistory& mine, const Testimony& testimony,
        std::uint64_t first_undone)
      : record_(record),
        rank_(rank),
        mine_(mine),
        testimony_(testimony),
        first_undone_(first_undone == 0 ? record.sequence : first_undone) {}

  Finding judge() {
    for (const std::int64_t member : record_.members) {
      if (is_judged(member)) hear(member);
    }
    // Ranks that answer may themselves be waiting for those that do not.
    const bool some_are_gone = !silent_.empty() || !left_.empty();
    Finding finding;
    const std::vector<std::int64_t> missing = some_are_gone ? gone() : behind_;
    if (!missing.empty()) finding.missing = headline(missing);
    if (!silent_.empty()) add_line(silence());
    if (some_are_gone && !behind_.empty()) add_line(concat("not there yet either: ", named_ranks(behind_)));
    for (const std::int64_t member : left_) add_line(concat("rank ", member, " has left the run"));
    for (const std::string& text : differences_) add_line(text);
    for (const std::int64_t member : behind_) add_line(whereabouts_of(member));
    if (!missing.empty()) look_elsewhere();
    if (lines_.empty()) add_line("all ranks answer and have made this call: their connections are stuck or slow");
    finding.more = text();
    return finding;
  }

 private:
  /// Whether the call needs it: a send or receive needs its peer alone, whoever else is in the group.
  bool is_judged(std::int64_t rank) const {
    if (rank == rank_) return false;
    if (record_.is_p2p) return rank == record_.peer;
    return std::find(record_.members.begin(), record_.members.end(), rank) != record_.members.end();
  }

  /// Names who is missing and, where all ranks but one wait, that one.
  std::string headline(const std::vector<std::int64_t>& missing) const {
    std::string text = concat("missing ", named_ranks(missing));
    const std::vector<std::int64_t> free = free_ranks();
    const auto waits = [&](std::int64_t rank) { return testimony_.answers.count(rank) != 0 && rank != free.front(); };
    if (!left_.empty() || free.size() != 1 || missing == free) return text;
    if (std::all_of(missing.begin(), missing.end(), waits)) {
      return concat(text, missing.size() == 1 ? ", which waits for rank " : ", which wait for rank ", free.front());
    }
    return std::find(missing.begin(), missing.end(), free.front()) == missing.end()
               ? text
               : concat(text, ", of which only rank ", free.front(), " waits for nobody");
  }

  /// Those of the run that wait for nobody, as far as this rank knows.
  std::vector<std::int64_t> free_ranks() const {
    std::vector<std::int64_t> free;
    for (const std::int64_t rank : testimony_.asked) {
      const auto answer = testimony_.answers.find(rank);
      const bool is_silent = answer == testimony_.answers.end();
      if (is_silent ? testimony_.left.count(rank) == 0 : answer->second.waits.empty()) free.push_back(rank);
    }
    return free;
  }

  void hear(std::int64_t member) {
    const auto answer = testimony_.answers.find(member);
    if (answer == testimony_.answers.end()) {
      (testimony_.left.count(member) != 0 ? left_ : silent_).push_back(member);
      return;
    }
    const CallHistory& history = answer->second.history;
    const std::string stream = CallHistory::meeting_stream(record_, rank_);
    const LoggedCall* const last = history.last(stream);
    if (last == nullptr || last->sequence < record_.sequence) return behind_.push_back(member);
    if (const LoggedCall* const met = history.find(stream, record_.sequence)) compare(member, *met);
  }

  void compare(std::int64_t member, const LoggedCall& met) {
    const LoggedCall* const own = mine_.find(CallHistory::stream(record_, rank_), record_.sequence);
    if (own == nullptr) return;
    const bool is_same =
        record_.is_p2p ? after_of(met.signature) == after_of(own->signature) : met.signature == own->signature;
    if (is_same) return;
    if (differences_.empty()) differences_.emplace_back("the ranks' calls do not match");
    differences_.push_back(
        concat("rank ", member, " calls ", with_module(met), ", rank ", rank_, " calls ", with_module(*own)));
  }

  std::vector<std::int64_t> gone() const {
    std::vector<std::int64_t> all = silent_;
    all.insert(all.end(), left_.begin(), left_.end());
    std::sort(all.begin(), all.end());
    return all;
  }

  /// They took part in whatever was done before: calls that are under way side by side were not.
  std::string silence() const {
    std::string text = concat("no answer from ", named_ranks(silent_), ": stopped or dead");
    const std::string stream = CallHistory::stream(record_, rank_);
    const LoggedCall* const first = mine_.find(stream, first_undone_);
    const LoggedCall* const before = mine_.find(stream, first_undone_ - 1);
    if (first_undone_ < record_.sequence) {
      text += concat("; the first call that is not done: ",
                     first == nullptr ? concat("sequence ", first_undone_) : with_sequence(first));
    }
    if (before != nullptr) text += concat("; the call before was done with all: ", with_sequence(before));
    return text;
  }

  std::string whereabouts_of(std::int64_t member) const {
    const Answer& answer = testimony_.answers.at(member);
    const std::string now = doing(answer);
    const LoggedCall* const last = answer.history.last(CallHistory::meeting_stream(record_, rank_));
    return concat("rank ", member, now.empty() ? "" : " ", now, now.empty() ? ": " : "; ",
                  "last call in this group: ", with_sequence(last));
  }

  /// A rank that this call lacks may wait for one that has no part in it, which is to blame.
  void look_elsewhere() {
    const std::string outside = record_.is_p2p ? "outside of this pair " : "outside of the group ";
    std::vector<std::int64_t> silent;
    for (const std::int64_t rank : testimony_.asked) {
      if (rank == rank_ || is_judged(rank)) continue;
      const auto answer = testimony_.answers.find(rank);
      if (answer == testimony_.answers.end()) {
        if (testimony_.left.count(rank) == 0) silent.push_back(rank);
      } else if (silent_.empty() && answer->second.waits.empty() && !answer->second.stack.empty()) {
        add_line(concat(outside, "rank ", rank, " waits for nobody: it ", doing(answer->second)));
      }
    }
    if (!silent.empty()) {
      add_line(concat(outside, "no answer from ", named_ranks(silent), silent_.empty() ? "" : " either",
                      ": stopped or dead"));
    }
  }

  void add_line(std::string text) { lines_.push_back(std::move(text)); }

  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < std::min(lines_.size(), kMostLines); ++i) all += concat("\n  ", lines_[i]);
    if (lines_.size() > kMostLines) all += concat("\n  and ", lines_.size() - kMostLines, " lines more");
    return all;
  }

  const WorkRecord& record_;
  std::int64_t rank_;
  const CallHistory& mine_;
  const Testimony& testimony_;
  std::uint64_t first_undone_;
  std::vector<std::int64_t> silent_, left_, behind_;  // behind: they answer, and have not made the call
  std::vector<std::string> differences_, lines_;
};

}  // namespace

Finding verdict(const WorkRecord& record, std::int64_t rank, const CallHistory& mine, const Testimony& testimony,
                std::uint64_t first_undone) {
  return Judge(record, rank, mine, testimony, first_undone).judge();
}

std::string whereabouts(const std::vector<std::int64_t>& missing, const Testimony& testimony) {
  std::string lines;
  std::size_t count = 0;
  for (const std::int64_t rank : missing) {
    const auto answer = testimony.answers.find(rank);
    const std::string now =
        answer == testimony.answers.end() ? "does not answer: stopped or dead" : doing(answer->second);
    if (!now.empty() && ++count <= kMostLines) lines += concat("\n  rank ", rank, ' ', now);
  }
  return lines;
}

}  // namespace titan::comm
