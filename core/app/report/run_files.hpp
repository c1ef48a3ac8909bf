#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace titan::app {

/// Files of one kind that a run left.
struct RunFiles {
  std::string what;   // "profiler traces"
  std::string count;  // "of 4 steps"
  std::string newest;
  std::string reader;  // what opens it: "titan trace memory FILE"
};

/// Checkpoints, traces, snapshots, dumps and logs in the dump folder of a run, by its configuration where there is
/// one.
std::vector<RunFiles> find_run_files(const std::filesystem::path& folder);

}  // namespace titan::app
