#include "core/config/resolver.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "core/config/parse.hpp"
#include "core/config/preset_chain.hpp"
#include "core/config/sources.hpp"
#include "core/config/suggestion.hpp"
#include "core/config/toml_values.hpp"

namespace titan::config {

namespace {

/// Lays one source over the other.
class Resolver {
 public:
  Resolver(const Registry& registry, Sources sources, Problems& problems)
      : registry_(registry), sources_(std::move(sources)), problems_(problems) {}

  const std::string& module() const { return sources_.module; }
  std::vector<std::string> take_warnings() { return std::move(warnings_); }

  void apply_defaults() {
    for (const Option* option : registry_.options(module())) {
      entries_[option->name] = {option, option->default_value, "default"};
    }
  }

  void apply_sources(const Translate& translate) {
    check_module();
    if (!sources_.preset.empty()) apply_preset();
    if (!sources_.hub_file.empty()) apply_hub_file(translate);
    for (const SourceFile& file : sources_.files) {
      assign(assignments_from_toml(file.root, file.name, registry_, module(), problems_));
    }
  }

  void apply_command_line(const std::vector<CliSetting>& settings) {
    for (const auto& [option, text] : settings) {
      apply(*option, text, "command line", concat("--", option->name, ": "));
    }
  }

  Config finish(const std::string& config_name) {
    problems_.throw_if_any();
    return Config(module(), config_name, std::move(entries_));
  }

 private:
  void assign(std::vector<Assignment> assignments) {
    for (Assignment& assignment : assignments) {
      entries_[assignment.option->name] = {assignment.option, std::move(assignment.value), assignment.origin};
    }
  }

  void apply(const Option& option, const std::string& text, const std::string& origin, const std::string& place) {
    try {
      entries_[option.name] = {&option, parse_value(option, text), origin};
    } catch (const ConfigError& error) {
      problems_.add_value(concat(place, error.what()));
    }
  }

  void check_module() {
    if (module().empty() || registry_.has_module(module())) return;
    problems_.add_value(concat("no model plugin of that name: \"", shortened(printable(module()), 100), '"',
                               list_hint(module(), registry_.modules())));
  }

  void apply_preset() {
    if (module().empty()) {
      problems_.add_value(concat(sources_.preset_place, ": preset needs a module: ",
                                 shortened(printable(sources_.preset), 100), list_of_modules()));
      return;
    }
    if (!registry_.has_module(module())) return;  // complained about
    const Preset* preset = registry_.find_preset(module(), sources_.preset);
    if (preset == nullptr) return unknown_preset();
    for (const Preset* link : preset_chain(registry_, *preset)) apply_settings(*link);
  }

  std::string list_of_modules() const {
    return concat("; name one with --module", registry_.modules().empty() ? "" : ": ", join(registry_.modules(), ", "));
  }

  void unknown_preset() {
    std::vector<std::string> names;
    for (const Preset* preset : registry_.presets(module())) names.push_back(preset->name);
    const bool looks_like_file = sources_.preset.find_first_of("/.") != std::string::npos;
    problems_.add_value(concat(
        sources_.preset_place, ": module ", module(), " has no preset \"", shortened(printable(sources_.preset), 100),
        '"', looks_like_file ? " (a file must end in .toml or .json)" : "", list_hint(sources_.preset, names)));
  }

  void apply_settings(const Preset& preset) {
    const std::string origin = concat("preset ", preset.name);
    for (const auto& [name, text] : preset.settings) {
      if (const Option* option = registry_.find(name, module()); option != nullptr) {
        apply(*option, text, origin, concat(origin, ": ", name, ": "));
      } else if (!is_model_option(name) && !registry_.has_section(section_of(name))) {
        warnings_.push_back(concat(origin, " sets ", printable(name), ", which no loaded plugin declares: ignored"));
      } else {
        throw PluginError("[", module(), "] ", origin, " sets an unknown option: ", printable(name));
      }
    }
  }

  void apply_hub_file(const Translate& translate) {
    const std::string origin = printable(sources_.hub_file);
    if (module().empty()) return problems_.add_value(concat(origin, ": hub file needs a module", list_of_modules()));
    if (!registry_.has_module(module())) return;  // complained about
    TITAN_CHECK(translate != nullptr, "nobody translates hub files");
    for (const auto& [name, text] : translate(module(), sources_.hub_text)) {
      const Option* option = registry_.find(name, module());
      if (option == nullptr) {
        throw PluginError("[", module(), "] hf_config sets an unknown option: ", printable(name));
      }
      apply(*option, text, origin, concat(origin, ": ", name, ": "));
    }
  }

  const Registry& registry_;
  Sources sources_;
  Problems& problems_;
  Config::Entries entries_;
  std::vector<std::string> warnings_;
};

std::string last_of(const std::vector<std::string>& values) { return values.empty() ? std::string() : values.back(); }

}  // namespace

Resolution resolve(const Registry& registry, const Verb& verb, const Words& words, const Translate& translate) {
  // Which options there are depends on the module, which a file may name: so files come before the rest of the words.
  Problems problems;
  const std::string config = last_of(flag_values(words, "config"));
  Resolver resolver(registry, read_sources(last_of(flag_values(words, "module")), config, problems), problems);
  Resolution out;
  resolver.apply_defaults();
  resolver.apply_sources(translate);
  out.command_line = read_command_line(registry, verb, resolver.module(), words, problems);
  resolver.apply_command_line(out.command_line.settings);
  out.config = resolver.finish(config);
  out.warnings = resolver.take_warnings();
  return out;
}

Config resolve_settings(const Registry& registry, const std::vector<Preset::Setting>& settings,
                        const std::string& module, const std::string& config) {
  Words words;
  if (!module.empty()) words.push_back(concat("--module=", module));
  if (!config.empty()) words.push_back(concat("--config=", config));
  for (const auto& [name, value] : settings) words.push_back(concat("--", name, "=", value));
  const Verb verb{.name = "resolve", .summary = {}, .flags = run_flags(), .positionals = {}};
  return resolve(registry, verb, words).config;
}

}  // namespace titan::config
