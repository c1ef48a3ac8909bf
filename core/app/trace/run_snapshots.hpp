#pragma once

#include <filesystem>
#include <vector>

namespace titan::app {

/// The memory snapshots in a folder and those below it, the newest step first, of one step by name. InputError: there
/// is none.
std::vector<std::filesystem::path> find_snapshots(const std::filesystem::path& folder);

}  // namespace titan::app
