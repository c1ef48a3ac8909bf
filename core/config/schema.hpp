#pragma once

#include <string>

#include "core/config/registry.hpp"

namespace titan::config {

/// Writes the JSON Schema (draft 2020-12) of a configuration file, for editors. Section `model` depends on the file's
/// `module` key.
std::string render_schema(const Registry& registry);

}  // namespace titan::config
