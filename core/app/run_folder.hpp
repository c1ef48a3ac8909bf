#pragma once

#include <cstdint>

#include "core/config/config.hpp"

namespace titan::app {

/// Makes the dump folder (mode 0700), sends the log to `logs/rank_N.log` in it too, and, as rank 0, writes
/// `config.toml` and what debug.save_config_file names. CreateError when something cannot be made; TrustError when the
/// folder is another user's and everybody may write to it.
void prepare_run_folder(const config::Config& config, std::int64_t rank);

}  // namespace titan::app
