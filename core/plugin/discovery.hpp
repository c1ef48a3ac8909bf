#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/plugin/facts.hpp"
#include "core/plugin/library.hpp"

namespace titan::plugin {

/// Where plugins are looked for.
struct Search {
  std::vector<std::filesystem::path> files;    // --plugin, in order: each must load
  std::vector<std::filesystem::path> folders;  // searched for *.titan.json, in order
  std::string module;                          // --module: a broken plugin of that name is an error, not a warning
  bool verbose = false;                        // log each path tried, and why it was skipped
};

/// The folders of TITAN_PLUGIN_PATH, then `<program folder>/../lib/titan/plugins`; verbose with TITAN_PLUGIN_DEBUG=1.
/// The environment is ignored in a process with raised privileges.
Search default_search();

/// A plugin that was found and described; nothing of it is loaded.
struct Plugin {
  Facts facts;
  std::filesystem::path library;
  std::filesystem::path manifest;  // empty: the library was opened to be described
  bool named = false;              // by --plugin
};

/// A plugin that was found and cannot be used.
struct BrokenPlugin {
  std::string name;  // best guess: the file's stem
  std::filesystem::path file;
  Error error;
};

struct Found {
  std::vector<Plugin> plugins;  // named ones first, then in order of search
  std::vector<BrokenPlugin> broken;
};

/// Reads the manifests. Throws for a named file that cannot be used, for a broken plugin called `search.module`, and
/// for two plugins of one id or name in the folders (a named one replaces those instead). Others that are broken are
/// collected.
Found discover(const Search& search, LibrarySource& libraries);

}  // namespace titan::plugin
