#pragma once

#include <vector>

#include "titan/sdk/options.hpp"

namespace titan::llama3 {

/// Lists the presets that `--config` names: torchtitan's sizes and training settings, and the parity model.
std::vector<sdk::Preset> presets();

}  // namespace titan::llama3
