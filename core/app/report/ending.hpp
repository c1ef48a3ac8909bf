#pragma once

#include <string>

#include "core/app/report/run_report.hpp"

namespace titan::app {

/// How a run ended.
struct Ending {
  bool is_failure = false;
  bool is_known = true;
  std::string headline;  // "Failed: rank 1 first, in training, status 69"
  std::string detail;    // lines; empty: none
};

/// What the launcher said last, who saw ranks die that could say nothing; else the first rank that failed; without one
/// the newest event with which the last run in the folder ended. A rank that was stopped as asked, or quit at a prompt,
/// did not fail.
Ending ending_of(const RunReport& report);

/// What became of a rank that did not end well: "failed, status 69", "stopped as asked, status 75".
std::string outcome_text(const launch::RankError& error);

}  // namespace titan::app
