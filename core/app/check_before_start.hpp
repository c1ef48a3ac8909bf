#pragma once

#include <cstdint>
#include <filesystem>

#include "core/config/cli_reader.hpp"

namespace titan::app {

/// Asks `titan check`, in a process of its own, whether `world_size` ranks can run `words` (without the verb).
/// ConfigError with its words where it refuses the configuration; whatever else it ends in is left to the ranks, which
/// report it with their numbers. Interrupted when a stop is requested.
void check_before_start(const std::filesystem::path& program, const config::Words& words, std::int64_t world_size);

}  // namespace titan::app
