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

/// The environment of one rank: `inherited`, over it what torchrun sets, and where to report. What an outer launcher
/// left there about a rank of its own is removed.
/// `store_port` is what became of the meeting point's port; `store_socket` rank 0's listening socket, -1 for none.
Variables rank_variables(const Variables& inherited, const LaunchOptions& options, std::int64_t local_rank,
                         std::int64_t store_port, int store_socket, const ReportFiles& report);

/// The environment of this process.
Variables own_variables();

}  // namespace titan::launch
