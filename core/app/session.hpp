#pragma once

#include <string>
#include <vector>

#include "core/config/cli_reader.hpp"
#include "core/config/registry.hpp"
#include "core/config/resolver.hpp"
#include "core/plugin/registry.hpp"

namespace titan::app {

/// What a verb works with: the plugins there are and all they declare.
class Session {
 public:
  /// Takes the verbs and finds the plugins, as `--plugin` and `--module` among the words ask.
  Session(config::Registry verbs, const config::Words& words);

  const config::Registry& registry() const { return registry_; }
  const plugin::PluginRegistry& plugins() const { return plugins_; }

  /// Resolves a verb's words and logs a warning for each part that is ignored. Throws as config::resolve() does.
  config::Resolution resolve(const config::Verb& verb, const config::Words& words) const;
  /// Reads the words of a verb without configuration options. UsageError names all that is wrong.
  config::CommandLine read(const config::Verb& verb, const config::Words& words) const;

 private:
  std::vector<config::Preset::Setting> translate(const std::string& module, const std::string& hub_config) const;

  config::Registry registry_;
  plugin::PluginRegistry plugins_;
};

}  // namespace titan::app
