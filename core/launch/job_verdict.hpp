#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/rank_report.hpp"

namespace titan::launch {

/// How a rank of this node ended.
struct RankEnd {
  std::int64_t rank = 0;           // global
  int status = 0;                  // exit status, or 128 + signal
  int signal = 0;                  // that killed it, or 0
  bool is_status_lost = false;     // nobody knows either; the status is what the rank wrote
  bool has_token = false;          // of completion
  double moment = 0;               // when the launcher saw it, seconds of the monotonic clock
  std::optional<RankError> error;  // what the rank wrote
  int launchers_signal = 0;        // the last one the launcher sent it; 0: none
  bool was_stopped = false;        // by SIGSTOP or the like, when the launcher killed it
};

/// How the ranks of this node ended together.
struct JobVerdict {
  int status = 0;                      // the launcher's exit status
  std::optional<std::size_t> culprit;  // place of the rank that failed first; none: nobody failed
  int stop_signal = 0;                 // all ranks ended as this signal to the launcher asked
  bool is_quit = false;                // the culprit did not fail: somebody ended the run at its prompt
};

/// The exit status a rank stands for: its own, or 70 for a 0 without the completion token.
int status_of(const RankEnd& end);

/// Finds who failed first. A rank that the launcher ended, or that lost its peers (69), fails only because another did;
/// it is the culprit only where no other is. A rank that was stopped is one before those that lost it: status 69.
/// `stop_signal`: what was asked of the launcher, or 0.
JobVerdict judge(const std::vector<RankEnd>& ends, int stop_signal);

/// Says how a rank ended, with a hint where there is one: "exited 78", "was killed by SIGKILL (9): ...".
std::string describe(const RankEnd& end);

/// The rank, by its place, whose words tell what became of a culprit that could say nothing itself (it was killed or
/// stopped): the first of its peers that wrote an error. None where the culprit wrote one.
std::optional<std::size_t> find_witness(const std::vector<RankEnd>& ends, std::size_t culprit);

/// The ranks, by number, that stopped together, as one decided for all or all found the same: those with the culprit's
/// status and its very words. Empty where the culprit is alone with them, or lost its peers.
std::vector<std::int64_t> find_agreeing(const std::vector<RankEnd>& ends, std::size_t culprit);

/// Whether the calls between ranks can tell more of the failure: a peer was lost, or a call was not done in time. What
/// a rank says of itself (its options, its memory, a value) is complete.
bool is_of_calls(const std::vector<RankEnd>& ends, std::size_t culprit);

/// Says how the others ended, by exit status: "exited 69: ranks 0, 2". Empty where all others did their work, or agree
/// with the culprit.
std::string describe_others(const std::vector<RankEnd>& ends, std::size_t culprit);

}  // namespace titan::launch
