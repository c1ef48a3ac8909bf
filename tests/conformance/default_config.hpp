#pragma once

#include <string>

#include "core/config/config.hpp"
#include "core/config/registry.hpp"

namespace titan::conformance {

/// Every option a run of `module` sees, at its default. `registry` outlives the result.
inline config::Config default_config(const config::Registry& registry, const std::string& module) {
  config::Config::Entries entries;
  for (const config::Option* option : registry.options(module)) {
    entries[option->name] = {option, option->default_value, "default"};
  }
  return {module, "", std::move(entries)};
}

}  // namespace titan::conformance
