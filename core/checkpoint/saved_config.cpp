#include "core/checkpoint/saved_config.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "core/config/format.hpp"
#include "core/config/toml_values.hpp"

namespace titan::checkpoint {
namespace {

/// Lines of a TOML file that sets the model's options. What this release does not declare is left out.
std::string model_settings(const config::Registry& registry, const Origin& origin) {
  std::string text;
  for (const auto& [name, value] : origin.config) {
    const bool is_known = config::is_model_option(name) && registry.find(name, origin.module) != nullptr;
    if (is_known) text += concat(name, " = ", value, '\n');
  }
  return text;
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
    config::Problems problems;
    const config::TomlTable settings = config::read_toml(model_settings(registry, origin), source);
    for (auto& [option, value, place] :
         config::assignments_from_toml(settings, source, registry, origin.module, problems)) {
      entries[option->name] = {option, std::move(value), place};
    }
    problems.throw_if_any();
  } catch (const ConfigError& error) {
    throw DataError("[checkpoint] the saved configuration of the model cannot be read: ", printable(source), ": ",
                    error.what());
  }
  return config::Config(origin.module, origin.preset, std::move(entries));
}

}  // namespace titan::checkpoint
