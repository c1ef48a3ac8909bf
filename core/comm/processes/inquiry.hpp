#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/comm/processes/call_log.hpp"
#include "core/comm/processes/watch.hpp"

namespace titan::comm {

/// What the other ranks of a call say about it.
struct Testimony {
  std::map<std::int64_t, CallHistory> answers;
  std::set<std::int64_t> left;  // ended without an error
  std::string store_problem;    // the store did not answer; empty: it did
};

/// Raises an alarm, and collects the answers of `ranks`: for some seconds, or until all are there or `cut_short` says
/// that they are not needed any more.
Testimony question(Watch& watch, const std::vector<std::int64_t>& ranks, const std::function<bool()>& cut_short);

/// Names the ranks that a call lacks: those that have not made it, with their last call in its group, those that made
/// another one, and those that do not answer. `mine` is what this rank called.
std::string verdict(const WorkRecord& record, std::int64_t rank, const LoggedCall& mine, const Testimony& testimony);

}  // namespace titan::comm
