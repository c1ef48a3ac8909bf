#pragma once

#include <vector>

#include "core/checkpoint/hub/hub.hpp"
#include "core/config/engine.hpp"

namespace titan::checkpoint {

/// Asks a model plugin for the hub's names of the configured model's parameters. `host` is a table through which the
/// plugin's errors are read. PluginError: a name that is empty or a transform that nobody knows; or what the plugin
/// reports.
std::vector<HubName> hub_names_of(const titan_host* host, const PluginInterface<titan_model_v1>& model);

}  // namespace titan::checkpoint
