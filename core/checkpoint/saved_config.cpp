#include "core/checkpoint/saved_config.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/format.hpp"
#include "core/config/toml_values.hpp"

namespace titan::checkpoint {
namespace {

/// Reads the value of an option, as TOML wrote it. Each value is parsed alone, so that none can set another option.
config::Assignment read_value(const config::Registry& registry, const std::string& module, const std::string& name,
                              const std::string& value, const std::string& source) {
  if (std::any_of(value.begin(), value.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; })) {
    throw ConfigError("[config] ", printable(name),
                      ": a value with a control character: ", printable(shortened(value, 200)));
  }
  config::Problems problems;
  const config::TomlTable settings = config::read_toml(concat(name, " = ", value, '\n'), source);
  std::vector<config::Assignment> assignments =
      config::assignments_from_toml(settings, source, registry, module, problems);
  problems.throw_if_any();
  if (assignments.size() != 1 || assignments.front().option->name != name) {
    throw ConfigError("[config] ", printable(name), ": a value that is none: ", printable(shortened(value, 200)));
  }
  return std::move(assignments.front());
}

}  // namespace

std::map<std::string, std::string> saved_config(const config::Config& config) {
  std::map<std::string, std::string> saved;
  for (const auto& [name, entry] : config.entries()) {
    if (entry.option->must_match) saved[name] = config::to_toml(*entry.option, entry.value);
  }
  return saved;
}

config::Config model_config(const config::Registry& registry, const Origin& origin, const std::string& source) {
  config::Config::Entries entries;
  for (const config::Option* option : registry.options(origin.module)) {
    entries[option->name] = {option, option->default_value, "default"};
  }
  try {
    for (const auto& [name, text] : origin.config) {
      // What this release does not declare is left out.
      if (!config::is_model_option(name) || registry.find(name, origin.module) == nullptr) continue;
      auto [option, value, place] = read_value(registry, origin.module, name, text, source);
      entries[option->name] = {option, std::move(value), place};
    }
  } catch (const ConfigError& error) {
    throw DataError("[checkpoint] the saved configuration of the model cannot be read: ", printable(source), ": ",
                    error.what());
  }
  return config::Config(origin.module, origin.preset, std::move(entries));
}

}  // namespace titan::checkpoint
