#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/problems.hpp"
#include "core/config/registry.hpp"
#include "core/config/toml_reader.hpp"

namespace titan::config {

/// A configuration file that was read.
struct SourceFile {
  std::string name;  // as in messages and origins
  TomlTable root;
};

/// What `--module` and `--config` come to, once the files they name have been read.
struct Sources {
  std::string module;             // --module, else what the outermost file that names one says
  std::vector<SourceFile> files;  // base first
  std::string preset;             // at the root of the chain; empty: none
  std::string preset_place;       // who names the preset: "--config", "run.toml:2:1: config"
  std::string hub_file;           // a config.json at the root of the chain; empty: none
  std::string hub_text;           // its content
};

/// Reads the file that `config` names, if it names one, and the files that it names as its base, relative to its own
/// folder. InputError: a file cannot be read. What else is wrong goes to `problems`: broken TOML, a file that is its
/// own base, a `module` or `config` key that is no text.
Sources read_sources(const std::string& module, const std::string& config, Problems& problems);

}  // namespace titan::config
