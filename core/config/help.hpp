#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/config/registry.hpp"

namespace titan::config {

/// What of the help is asked for.
struct HelpRequest {
  const Verb* verb = nullptr;  // its flags are shown; null: the list of verbs
  std::string pattern;         // shows matching options only: part of a name, or a glob with * and ?
  std::size_t width = 100;     // columns
  std::string group = {};      // the first word of verbs, of which alone the list is: "checkpoint"
};

/// Writes the help: usage, flags, then every option that is not hidden, by owner and section, and presets by module.
std::string render_help(const Registry& registry, const HelpRequest& request);

/// Whether a name matches a pattern of `--help=PATTERN`: case and the difference of dash and underscore do not count.
bool matches_help_pattern(std::string_view name, std::string_view pattern);

}  // namespace titan::config
