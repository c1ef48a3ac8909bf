#pragma once

#include <filesystem>
#include <string>

#include "core/plugin/registry.hpp"

namespace titan::plugin {

/// `titan plugin list`: one line a plugin (name, version, tier, ABI, interfaces, presets, file), then the broken ones
/// with their reason. Ends with a newline.
std::string list_text(const PluginRegistry& registry);

/// The same facts as JSON, with options and presets; for scripts.
std::string list_json(const PluginRegistry& registry);

/// What `titan plugin check FILE` found.
struct CheckReport {
  struct Line {
    bool passed;
    std::string rule;    // "exports exactly one symbol"
    std::string detail;  // empty, or what was found instead
  };
  std::vector<Line> lines;
  bool passed() const;
};

/// Checks a plugin file: static rules, loading, describe twice equal, valid options, presets that resolve. Runs plugin
/// code in this process. Throws InputError when there is no such file.
CheckReport check(const std::filesystem::path& file, LibrarySource& libraries = system_libraries());

/// One line a rule and a verdict. Ends with a newline.
std::string check_text(const CheckReport& report);

}  // namespace titan::plugin
