#pragma once

#include <vector>

#include "core/checkpoint/hub/hub.hpp"
#include "core/config/engine.hpp"

namespace titan::checkpoint {

/// Asks the model plugin for its parameters' names on the hub. Throws what the plugin reports, as the titan::Error of
/// its code; PluginError for a transform that does not exist.
std::vector<HubName> hub_names_of(const titan_host* host, const PluginInterface<titan_model_v1>& model);

}  // namespace titan::checkpoint
