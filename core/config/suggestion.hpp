#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/registry.hpp"

namespace titan::config {

/// "; did you mean --training.steps?" for an unknown option name, or what else is known about it ("it belongs to module
/// mixtral"); empty when nothing is near. `dashes` stands before each name: "--" or nothing.
std::string option_hint(const Registry& registry, std::string_view module, std::string_view name,
                        std::string_view dashes);

/// The same for a flag of a verb, when no option is near.
std::string flag_hint(const Registry& registry, const Verb& verb, std::string_view name);

/// "; did you mean [training]?" for an unknown section.
std::string section_hint(const Registry& registry, std::string_view module, std::string_view section);

/// "; did you mean X? There are: X, A, B": the nearest first.
std::string list_hint(std::string_view word, std::vector<std::string> names);

}  // namespace titan::config
