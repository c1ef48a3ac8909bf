#pragma once

#include <filesystem>
#include <string>

#include "core/plugin/registry.hpp"

namespace titan::plugin {

/// `titan plugin list`: one line a plugin (name, version, tier, ABI, interfaces, presets, file), then the broken ones
/// with their reason. Ends with a newline.
std::string list_text(const PluginRegistry& registry);

/// The same facts as JSON, with options and presets; for scripts. Ends with a newline.
std::string list_json(const PluginRegistry& registry);

}  // namespace titan::plugin
