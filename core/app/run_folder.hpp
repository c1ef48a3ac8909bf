#pragma once

#include <cstdint>
#include <filesystem>

#include "core/config/config.hpp"

namespace titan::app {

/// Makes the dump folder (mode 0700) and returns its path. CreateError when it cannot be made; TrustError when it is
/// another user's and everybody may write to it.
std::filesystem::path make_dump_folder(const config::Config& config);

/// Makes the dump folder, sends the log to `logs/rank_N.log` in it too, and, as rank 0, writes `config.toml` and what
/// debug.save_config_file names. Throws as make_dump_folder(); CreateError when something else cannot be made.
void prepare_run_folder(const config::Config& config, std::int64_t rank);

}  // namespace titan::app
