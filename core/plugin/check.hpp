#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/plugin/discovery.hpp"

namespace titan::plugin {

/// What `titan plugin check FILE` found. Rules that depend on a failed one are left out.
struct CheckReport {
  struct Line {
    bool passed = false;
    std::string rule;    // "exports titan_plugin_query_v1 and nothing else"
    std::string detail;  // why it failed, else empty
  };
  std::vector<Line> lines;
  bool passed() const;
};

/// Checks a plugin file: the file itself, opening it, describe twice equal, valid options, presets that resolve. Other
/// plugins found by `search` provide the options that presets may set. Runs code of the plugin in this process.
CheckReport check(const std::filesystem::path& file, Search search, LibrarySource& libraries = system_libraries());

/// One line a rule, and a verdict. Ends with a newline.
std::string check_text(const CheckReport& report);

}  // namespace titan::plugin
