#include "core/config/preset_chain.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::config {

std::vector<const Preset*> preset_chain(const Registry& registry, const Preset& preset) {
  std::vector<const Preset*> chain;
  for (const Preset* link = &preset; link != nullptr;) {
    chain.push_back(link);
    if (link->base.empty()) break;
    const Preset* base = registry.find_preset(link->owner, link->base);
    if (base == nullptr) {
      throw PluginError("[", link->owner, "] preset ", link->name, " has an unknown base: ", printable(link->base));
    }
    if (std::ranges::find(chain, base) != chain.end()) {
      throw PluginError("[", link->owner, "] preset is its own base: ", preset.name, " (through ", link->name, ")");
    }
    link = base;
  }
  std::ranges::reverse(chain);
  return chain;
}

std::vector<Preset::Setting> settings_of(const Registry& registry, const Preset& preset) {
  std::vector<Preset::Setting> settings;
  for (const Preset* link : preset_chain(registry, preset)) {
    settings.insert(settings.end(), link->settings.begin(), link->settings.end());
  }
  return settings;
}

}  // namespace titan::config
