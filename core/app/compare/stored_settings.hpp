#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/app/compare/run_table.hpp"
#include "core/config/registry.hpp"

namespace titan::app {

/// Reads a configuration file as plain names and values, without knowing its options: the file may be of another
/// version, or of plugins that are not here. InputError and ConfigError as config::read_toml_file().
Settings read_settings(const std::filesystem::path& file);

/// Leaves out what does not change a run's numbers: options that ranks may differ in, where files go, what is logged,
/// and how long ranks wait.
Settings settings_that_matter(const Settings& settings, const config::Registry& registry);

/// One setting that two runs differ in; empty where one has none.
struct SettingDifference {
  std::string name;
  std::string a, b;
};
/// In order of name; none where one run's configuration is not known.
std::vector<SettingDifference> differences(const Settings& a, const Settings& b);

}  // namespace titan::app
