#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace titan::config {

enum class Type { boolean, integer, floating, string, path, strings, tables };

/// A value; std::monostate is None. `tables` options hold JSON text (an array of objects) as std::string.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// One declared option. Whoever declares it owns its name; the registry owns the declaration.
struct Option {
  std::string name;  // dotted and complete: "training.steps"
  Type type = Type::string;
  Value default_value;  // None needs `nullable`
  std::string help;     // one sentence, with the unit
  std::string metavar;
  std::vector<std::string> choices;
  std::optional<double> min;
  std::optional<double> max;
  bool min_exclusive = false;
  bool max_exclusive = false;
  bool nullable = false;
  bool must_match = false;  // all ranks must have the same value
  bool hidden = false;
  std::string owner;  // "titan" or the plugin's name
};

/// A named set of option values, written as on the command line.
struct Preset {
  struct Setting {
    std::string name;
    std::string value;
  };
  std::string name;
  std::string summary;
  std::string base;  // another preset of the same owner, or empty
  std::vector<Setting> settings;
  std::string owner;
};

}  // namespace titan::config
