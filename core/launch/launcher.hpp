#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/stop.hpp"
#include "core/launch/job_verdict.hpp"
#include "core/launch/launch_options.hpp"

namespace titan::launch {

/// The ranks of this node, and where they leave what they say.
struct Job {
  LaunchOptions options;
  std::filesystem::path program;
  std::vector<std::string> arguments;   // of every rank, without the program's name
  std::filesystem::path log_folder;     // rank_N.stdout.log, rank_N.stderr.log
  std::filesystem::path report_folder;  // rank_N.json, rank_N.done, verdict.json
  std::filesystem::path traces_folder;  // where ranks write their calls down when one fails; empty: they do not
  int console_output = STDOUT_FILENO;
  int console_errors = STDERR_FILENO;
};

/// How it ended.
struct JobEnd {
  JobVerdict verdict;
  std::string message;  // what to tell last, lines; empty when all did their work or stopped as asked
};

/// Starts the ranks, shows and stores their output, passes signals on, and comes back when all of them have ended: none
/// is left behind, whatever happens. A failing console does no harm; SIGPIPE must be ignored. Call from the main
/// thread: the kernel kills the ranks when the calling thread ends. PeerError: the meeting point's port is in use;
/// CreateError: a log file cannot be opened; TrustError: it or a folder is a symbolic link; ResourceError: a rank
/// cannot be started; Interrupted: a stop was requested before all ranks were started.
JobEnd run_job(const Job& job, const StopFlag& stop);

}  // namespace titan::launch
