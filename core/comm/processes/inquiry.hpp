#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/comm/processes/testimony.hpp"
#include "core/comm/processes/watch.hpp"
#include "core/comm/transport.hpp"

namespace titan::comm {

/// Whom an alarm is for.
struct Inquiry {
  std::int32_t cause = 0;               // TITAN_DUMP_*
  std::string reason;                   // for which the others write down what they know
  std::vector<std::int64_t> members;    // the other ranks of the call
  std::vector<std::int64_t> everybody;  // the other ranks of the run
};

/// Raises an alarm, and collects the ranks' answers: for some seconds, or until all are there or `cut_short` says that
/// they are not needed any more. Asks everybody, but in a large run the members alone, if others asked before.
Testimony question(Watch& watch, const Inquiry& inquiry, const std::function<bool()>& cut_short);

/// Names the ranks that a call lacks: those that have not made it, with their last call in its group and what they do
/// instead, those that made another one, and those that do not answer; and who holds up those that it lacks. `mine` is
/// what this rank has called. `first_undone` is the sequence number of the first call of its stream that is not done,
/// where that is an earlier one.
Finding verdict(const WorkRecord& record, std::int64_t rank, const CallHistory& mine, const Testimony& testimony,
                std::uint64_t first_undone = 0);

/// Says where ranks are that did not come to a group: a line for each that answers.
std::string whereabouts(const std::vector<std::int64_t>& missing, const Testimony& testimony);

}  // namespace titan::comm
