#pragma once

#include <vector>

#include "titan/sdk/options.hpp"

namespace titan::qwen3 {

/// Lists the presets that `--config` names: torchtitan's sizes and training settings, and the parity model.
std::vector<sdk::Preset> presets();

}  // namespace titan::qwen3
