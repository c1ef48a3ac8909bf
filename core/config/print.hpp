#pragma once

#include <string>

#include "core/config/config.hpp"

namespace titan::config {

/// Writes a configuration as TOML: every option with its origin in a comment, grouped by section. `--config` with the
/// result alone gives the same configuration again, whatever presets become of later.
std::string render_toml(const Config& config);

}  // namespace titan::config
