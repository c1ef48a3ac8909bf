#include "core/plugin/registry.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/plugin/load_problem.hpp"
#include "core/plugin/loader.hpp"
#include "titan/abi/model.h"

namespace titan::plugin {
namespace {

// The log puts the tag itself.
std::string_view without_tag(std::string_view message) {
  constexpr std::string_view kTag = "[plugin] ";
  return message.starts_with(kTag) ? message.substr(kTag.size()) : message;
}

std::vector<std::string> names_of(const std::vector<const Plugin*>& plugins) {
  std::vector<std::string> names;
  for (const auto* plugin : plugins) names.push_back(plugin->facts.name);
  return names;
}

// A manifest is a claim about the library; what it says of itself is what counts.
void check_same(const Facts& found, const Facts& opened) {
  if (found.id == opened.id && found.name == opened.name && found.version == opened.version) return;
  throw LoadProblem(Exit::abi,
                    concat("the library is ", opened.id, " ", opened.version, ", but ", found.id, " ", found.version,
                           " was described"),
                    "build the plugin again, so that its manifest is new");
}

}  // namespace

PluginRegistry::PluginRegistry(const Search& search, LibrarySource& libraries)
    : libraries_(libraries), found_(discover(search, libraries)) {
  for (const auto& broken : found_.broken) log_warning("plugin", without_tag(broken.error.what()));
}

std::vector<const Plugin*> PluginRegistry::providing(std::string_view interface_id) const {
  std::vector<const Plugin*> out;
  for (const auto& plugin : found_.plugins) {
    if (plugin.facts.provides_interface(interface_id)) out.push_back(&plugin);
  }
  return out;
}

const Plugin& PluginRegistry::find_model(std::string_view name) const {
  const auto models = providing(TITAN_MODEL_V1);
  const auto found = std::find_if(models.begin(), models.end(), [&](const auto* p) { return p->facts.name == name; });
  if (found != models.end()) return **found;

  const auto names = names_of(models);
  const std::string near = nearest(name, names);
  throw InputError("[plugin] no plugin provides a model of that name: ", printable(name),
                   near.empty() ? "" : concat(" (did you mean ", near, "?)"),
                   "; available: ", names.empty() ? "none" : join(names, ", "),
                   "; others are found with --plugin FILE or TITAN_PLUGIN_PATH");
}

void PluginRegistry::register_options(config::Registry& registry) const {
  for (const auto& plugin : found_.plugins) {
    const Facts& facts = plugin.facts;
    if (facts.provides_interface(TITAN_MODEL_V1)) registry.add_module(facts.name);
    for (const auto& option : facts.options) registry.add(option);
    for (const auto& preset : facts.presets) registry.add(preset);
  }
}

std::unique_ptr<Instance> PluginRegistry::load(const Plugin& plugin, const HostServices& services) const {
  try {
    const Opened opened = open_plugin(plugin.library, libraries_);
    check_same(plugin.facts, opened.identity);
    return std::make_unique<Instance>(*opened.info, plugin.facts.name, services);
  } catch (const LoadProblem& problem) {
    throw load_error(plugin.facts.name, plugin.library, problem);
  }
}

}  // namespace titan::plugin
