#include "core/launch/job_verdict.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include "core/base/error.hpp"
#include "core/base/number_runs.hpp"

namespace titan::launch {
namespace {

constexpr int kPeerLost = static_cast<int>(Exit::unavailable);

/// Classes of failures, the likeliest root first.
enum class Cause { own, stopped, peers, launcher, none };

Cause cause_of(const RankEnd& end) {
  if (end.was_stopped) return Cause::stopped;
  if (status_of(end) == 0) return Cause::none;
  if (end.signal != 0 && end.signal == end.launchers_signal) return Cause::launcher;
  if (end.launchers_signal != 0 && end.status == 128 + end.launchers_signal) return Cause::launcher;
  return status_of(end) == kPeerLost ? Cause::peers : Cause::own;
}

/// A rank writes its error when it fails, and may take a while to leave.
double failed_at(const RankEnd& end) { return end.error ? std::min(end.error->moment, end.moment) : end.moment; }

std::optional<std::size_t> find_culprit(const std::vector<RankEnd>& ends) {
  std::optional<std::size_t> found;
  const auto comes_before = [&](const RankEnd& a, const RankEnd& b) {
    if (cause_of(a) != cause_of(b)) return cause_of(a) < cause_of(b);
    return failed_at(a) < failed_at(b);
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (cause_of(ends[i]) == Cause::none) continue;
    if (!found || comes_before(ends[i], ends[*found])) found = i;
  }
  return found;
}

/// Who loses a peer that was asked to stop did nothing wrong.
bool ended_as_asked(const RankEnd& end, int stop_signal) {
  const int status = status_of(end);
  return status == 0 || status == 128 + stop_signal || status == static_cast<int>(Exit::stopped) ||
         cause_of(end) != Cause::own;
}

std::string name_of(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? concat("signal ", signal) : concat("SIG", name, " (", signal, ")");
}

std::string_view hint_of(int signal) {
  switch (signal) {
    case SIGKILL:
      return ": perhaps for memory that ran out (the kernel's log tells: dmesg), or by hand";
    case SIGABRT:
      return ": an uncaught exception or a failed assertion";
    case SIGSEGV:
    case SIGBUS:
      return ": an invalid memory access";
    case SIGILL:
      return ": an instruction that this processor does not have";
    case SIGXCPU:
      return ": the limit of its processor time";
    default:
      return "";
  }
}

std::string_view meaning_of(int status) {
  switch (Exit{status}) {
    case Exit::unavailable:
      return ", a peer was lost or did not come";
    case Exit::resource:
      return ", memory or another resource of the system ran out";
    default:
      return "";
  }
}

}  // namespace

int status_of(const RankEnd& end) {
  const bool is_early = end.status == 0 && !end.has_token;
  return is_early ? static_cast<int>(Exit::internal) : end.status;
}

JobVerdict judge(const std::vector<RankEnd>& ends, int stop_signal) {
  const std::optional<std::size_t> culprit = find_culprit(ends);
  if (!culprit) return {};
  const auto is_as_asked = [&](const RankEnd& end) { return ended_as_asked(end, stop_signal); };
  if (stop_signal != 0 && std::ranges::all_of(ends, is_as_asked)) {
    const auto is_saved = [](const RankEnd& end) { return end.status == static_cast<int>(Exit::stopped); };
    const bool saved = std::ranges::any_of(ends, is_saved);
    return {saved ? static_cast<int>(Exit::stopped) : 128 + stop_signal, std::nullopt, stop_signal};
  }
  const RankEnd& first = ends[*culprit];
  const bool is_quit = first.error && first.error->is_quit;
  return {cause_of(first) == Cause::stopped ? kPeerLost : status_of(first), culprit, 0, is_quit};
}

std::string describe(const RankEnd& end) {
  if (end.was_stopped) return "was stopped (SIGSTOP) and could not go on; the launcher killed it";
  if (end.is_status_lost) return concat("ended with a status that another process took, for ", status_of(end));
  if (end.error && end.error->is_quit) return "was quit at a breakpoint";
  if (end.status == 0 && !end.has_token)
    return "exited 0 without its completion token: something ended the process early";
  if (end.signal == 0) return concat("exited ", end.status, meaning_of(end.status));
  const bool by_launcher = end.signal == end.launchers_signal;
  return concat("was killed by ", name_of(end.signal),
                by_launcher ? ": the launcher's, it did not leave by itself" : hint_of(end.signal));
}

std::optional<std::size_t> find_witness(const std::vector<RankEnd>& ends, std::size_t culprit) {
  std::optional<std::size_t> found;
  if (ends[culprit].error) return found;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!ends[i].error || ends[i].error->code != kPeerLost) continue;
    if (!found || failed_at(ends[i]) < failed_at(ends[*found])) found = i;
  }
  return found;
}

std::vector<std::int64_t> find_agreeing(const std::vector<RankEnd>& ends, std::size_t culprit) {
  const RankEnd& first = ends[culprit];
  if (!first.error || first.error->is_quit || cause_of(first) != Cause::own) return {};
  std::vector<std::int64_t> ranks;
  for (const RankEnd& end : ends) {
    if (end.error && end.status == first.status && end.error->message == first.error->message)
      ranks.push_back(end.rank);
  }
  return ranks.size() > 1 ? ranks : std::vector<std::int64_t>();
}

bool is_of_calls(const std::vector<RankEnd>& ends, std::size_t culprit) {
  if (ends[culprit].error && ends[culprit].error->is_quit) return false;
  return cause_of(ends[culprit]) != Cause::own || !ends[culprit].error;
}

std::string describe_others(const std::vector<RankEnd>& ends, std::size_t culprit) {
  const std::vector<std::int64_t> agreeing = find_agreeing(ends, culprit);
  const auto agrees = [&](const RankEnd& end) { return std::ranges::find(agreeing, end.rank) != agreeing.end(); };
  std::map<std::string, std::vector<std::int64_t>> groups;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (i != culprit && status_of(ends[i]) != 0 && !agrees(ends[i])) groups[describe(ends[i])].push_back(ends[i].rank);
  }
  std::vector<std::string> parts;
  for (const auto& [how, ranks] : groups) {
    parts.push_back(concat(ranks.size() == 1 ? "rank " : "ranks ", number_runs(ranks), " ", how));
  }
  return join(parts, "; ");
}

}  // namespace titan::launch
