#include "core/app/run_selection.hpp"

#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace titan::app {
namespace {

std::string preset_names(const Session& session, const std::string& module) {
  std::vector<std::string> names;
  for (const config::Preset* preset : session.registry().presets(module)) names.push_back(preset->name);
  return join(names, ", ");
}

}  // namespace

void check_selection(const Session& session, const config::Config& config) {
  if (config.module().empty()) {
    throw UsageError("[train] which model is to be trained? Name its plugin with --module: ",
                     join(session.registry().modules(), ", "), "; titan --help lists all options");
  }
  if (config.config_name().empty()) {
    throw UsageError("[train] which configuration is to be trained? Name a preset of ", config.module(),
                     " or a .toml file with --config: ", preset_names(session, config.module()));
  }
}

}  // namespace titan::app
