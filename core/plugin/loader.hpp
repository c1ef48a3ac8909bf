#pragma once

#include <filesystem>

#include "core/plugin/facts.hpp"
#include "core/plugin/library.hpp"

namespace titan::plugin {

/// An opened plugin whose info block was checked. Nothing of it is initialised.
struct Opened {
  const titan_plugin_info* info;  // lives as long as the process
  Facts identity;                 // without options, presets and interfaces
};

/// Opens a plugin file and checks that it fits this host. LoadProblem: 66 when it is not there, 76 when it does not
/// fit, 70 when it breaks the contract.
Opened open_plugin(const std::filesystem::path& file, LibrarySource& libraries);

/// open_plugin and describe: all the plugin says about itself.
Facts open_and_describe(const std::filesystem::path& file, LibrarySource& libraries);

}  // namespace titan::plugin
