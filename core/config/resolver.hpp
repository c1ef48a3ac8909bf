#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/config/cli_reader.hpp"
#include "core/config/config.hpp"

namespace titan::config {

/// Translates the text of a hub config.json into settings of `module`'s options; the host asks the model plugin.
using Translate = std::function<std::vector<Preset::Setting>(const std::string& module, const std::string& text)>;

/// A command line and all it names, resolved.
struct Resolution {
  Config config;
  CommandLine command_line;
  std::vector<std::string> warnings;  // configuration that is ignored
};

/// Resolves the words after a verb. Precedence: declared default < preset (its bases first) < TOML files (the base
/// first) < command line. Whatever is wrong is reported in one error: UsageError when a flag is unknown or malformed,
/// ConfigError otherwise; InputError when a file cannot be read. Nothing is checked across options: that is up to those
/// who use them.
Resolution resolve(const Registry& registry, const Verb& verb, const Words& words, const Translate& translate = {});

/// Resolves settings written as on the command line over a preset or file ("" for none).
Config resolve_settings(const Registry& registry, const std::vector<Preset::Setting>& settings,
                        const std::string& module = "", const std::string& config = "");

}  // namespace titan::config
