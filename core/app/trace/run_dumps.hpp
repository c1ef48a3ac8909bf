#pragma once

#include <filesystem>

namespace titan::app {

/// Where the flight recorders' dumps of a run are: the folder that comm.save_traces_folder names in its config.toml,
/// else comm_traces. A folder that holds neither is taken to hold the dumps themselves.
std::filesystem::path dumps_folder(const std::filesystem::path& folder);

}  // namespace titan::app
