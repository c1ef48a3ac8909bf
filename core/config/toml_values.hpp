#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/problems.hpp"
#include "core/config/registry.hpp"
#include "core/config/toml_reader.hpp"

namespace titan::config {

/// One option that a source sets: a value of the option's type, and where it comes from.
struct Assignment {
  const Option* option = nullptr;
  Value value;
  std::string origin;
};

/// Turns a TOML value into the option's. ConfigError as parse_value(). An integer serves as a float, nothing else is
/// converted; the text "None" is None where the option is nullable.
Value value_from_toml(const Option& option, const TomlNode& node);

/// Reads a file's table as options of a run of `module`. What is wrong goes to `problems`, with its place. The
/// top-level keys `module` and `config` are left to the caller.
std::vector<Assignment> assignments_from_toml(const TomlTable& root, std::string_view source, const Registry& registry,
                                              std::string_view module, Problems& problems);

}  // namespace titan::config
