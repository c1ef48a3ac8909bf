#pragma once

#include <vector>

#include "core/config/registry.hpp"

namespace titan::config {

/// A preset and the presets it stands on, base first. PluginError when a base is missing or the chain is circular.
std::vector<const Preset*> preset_chain(const Registry& registry, const Preset& preset);

/// The settings of the whole chain, base first.
std::vector<Preset::Setting> settings_of(const Registry& registry, const Preset& preset);

}  // namespace titan::config
