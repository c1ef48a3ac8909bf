#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/launch/launch_options.hpp"

namespace titan::launch {

using Variables = std::map<std::string, std::string, std::less<>>;

/// Where a rank says how it ended.
struct ReportFiles {
  std::filesystem::path error;  // TITAN_ERROR_FILE
  std::filesystem::path done;   // TITAN_DONE_FILE
};

/// Descriptors that a rank inherits from the launcher; -1: none.
struct RankDescriptors {
  int store_socket = -1;  // TITAN_STORE_FD: rank 0's listening socket
  int input = -1;         // TITAN_INPUT_FD: the launcher's standard input, for a rank that is shown
  int notices = -1;       // TITAN_NOTICE_FD: the launcher's console, for one that is not
};

/// Whether the rank is one of those that somebody wants to see on the console, TITAN_CONSOLE.
bool is_shown(const LaunchOptions& options, std::int64_t rank);

/// The environment of one rank: `inherited`, over it what torchrun sets, and where to report. What an outer launcher
/// left there about a rank of its own is removed.
/// `store_port` is what became of the meeting point's port.
Variables rank_variables(const Variables& inherited, const LaunchOptions& options, std::int64_t local_rank,
                         std::int64_t store_port, const RankDescriptors& descriptors, const ReportFiles& report);

/// The environment of this process.
Variables own_variables();

}  // namespace titan::launch
