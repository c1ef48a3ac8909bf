#include "core/config/registry.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/config/parse.hpp"
#include "core/config/preset_chain.hpp"

namespace titan::config {

namespace {

bool is_segment(std::string_view segment) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !segment.empty() && is_lower(segment.front()) && std::ranges::all_of(segment, is_allowed);
}

void check_name(const Option& option) {
  const std::vector<std::string> segments = split(option.name, '.');
  const bool well_formed = !segments.empty() && segments.size() <= 4 && std::ranges::all_of(segments, is_segment);
  if (!well_formed) {
    throw PluginError("[", option.owner, "] option name must be lower-case words joined by points, as in ",
                      "training.steps: ", printable(option.name));
  }
  if (option.name == "module" || option.name == "config" || option.name == "model") {
    throw PluginError("[", option.owner, "] option name is reserved: ", option.name);
  }
  if (option.type == Type::boolean && segments.back().starts_with("no_")) {
    throw PluginError("[", option.owner,
                      "] a boolean option must not begin with no_, which switches one off: ", option.name);
  }
}

void check_declaration(const Option& option) {
  if (option.min && option.max && *option.min > *option.max) {
    throw PluginError("[", option.owner, "] option has an empty range: ", option.name);
  }
  try {
    check_value(option, option.default_value);
    if (option.type == Type::tables && !std::holds_alternative<std::monostate>(option.default_value)) {
      static_cast<void>(canonical_tables(std::get<std::string>(option.default_value)));
    }
  } catch (const ConfigError& error) {
    throw PluginError("[", option.owner, "] option has a wrong default: ", option.name, ": ", error.what());
  }
}

/// An option that has `name` as a section, or is a section of it: a file could not hold both. Null when there is none.
const Option* overlapping(const std::map<std::string, Option, std::less<>>& options, const std::string& name) {
  const auto inside = options.lower_bound(name + ".");
  if (inside != options.end() && inside->first.starts_with(name + ".")) return &inside->second;
  for (std::string_view section = section_of(name); !section.empty(); section = section_of(section)) {
    if (const auto found = options.find(section); found != options.end()) return &found->second;
  }
  return nullptr;
}

void check_is_free(const std::map<std::string, Option, std::less<>>& options, const Option& option) {
  if (const auto taken = options.find(option.name); taken != options.end()) {
    throw PluginError("[", option.owner, "] option is declared twice: ", option.name, ": already declared by ",
                      taken->second.owner);
  }
  if (const Option* other = overlapping(options, option.name); other != nullptr) {
    throw PluginError("[", option.owner, "] option ", option.name, " clashes with option ", other->name, " of ",
                      other->owner, ": one is a section of the other");
  }
}

}  // namespace

bool is_model_option(std::string_view name) { return name.starts_with("model."); }

std::string_view section_of(std::string_view name) {
  const std::size_t point = name.rfind('.');
  return point == std::string_view::npos ? std::string_view() : name.substr(0, point);
}

std::string_view key_of(std::string_view name) {
  const std::size_t point = name.rfind('.');
  return point == std::string_view::npos ? name : name.substr(point + 1);
}

void Registry::add(Option option) {
  check_name(option);
  check_declaration(option);
  Options& options = is_model_option(option.name) ? of_models_[option.owner] : options_;
  check_is_free(options, option);
  for (const Verb& verb : verbs_) {
    if (std::ranges::find(verb.flags, option.name, &Flag::name) == verb.flags.end()) continue;
    throw PluginError("[", option.owner, "] option has the name of a flag of `titan ", verb.name, "`: ", option.name);
  }
  std::string name = option.name;
  options.emplace(std::move(name), std::move(option));
}

void Registry::add(Preset preset) {
  if (find_preset(preset.owner, preset.name) != nullptr) {
    throw PluginError("[", preset.owner, "] preset is declared twice: ", preset.name);
  }
  if (preset.name.empty() || preset.name.ends_with(".toml") || preset.name.ends_with(".json") ||
      preset.name.find('/') != std::string::npos) {
    throw PluginError("[", preset.owner, "] preset must not look like a file: \"", printable(preset.name), '"');
  }
  presets_.push_back(std::move(preset));
}

void Registry::add(Verb verb) {
  for (const Flag& flag : verb.flags) {
    const bool taken = std::ranges::any_of(options(), [&](const Option* o) { return o->name == flag.name; });
    TITAN_CHECK(!taken, "a flag of a verb has an option's name: ", flag.name);
  }
  TITAN_CHECK(find_verb(verb.name) == nullptr, "a verb is declared twice: ", verb.name);
  verbs_.push_back(std::move(verb));
}

void Registry::add_module(std::string owner) {
  if (!has_module(owner)) modules_.push_back(std::move(owner));
}

bool Registry::has_module(std::string_view name) const { return std::ranges::find(modules_, name) != modules_.end(); }

void Registry::check_preset(const Preset& preset) const {
  for (const auto& [name, text] : settings_of(*this, preset)) {
    const Option* option = find(name, preset.owner);
    if (option == nullptr) {
      // Another plugin's option may be absent together with its plugin, and its whole section with it.
      if (!is_model_option(name) && !has_section(section_of(name))) continue;
      throw PluginError("[", preset.owner, "] preset ", preset.name, " sets an unknown option: ", printable(name));
    }
    try {
      static_cast<void>(parse_value(*option, text));
    } catch (const ConfigError& error) {
      throw PluginError("[", preset.owner, "] preset ", preset.name, " sets ", name, ": ", error.what());
    }
  }
}

void Registry::check() const {
  for (const auto& [owner, options] : of_models_) {
    if (!options.empty() && !has_module(owner)) {
      throw PluginError("[", owner, "] only a plugin that provides titan.model/1 may declare options in section ",
                        "model: ", options.begin()->first);
    }
  }
  for (const Preset& preset : presets_) check_preset(preset);
}

const Option* Registry::find(std::string_view name, std::string_view module) const {
  const Options* options = &options_;
  if (is_model_option(name)) {
    const auto found = of_models_.find(module);
    if (found == of_models_.end()) return nullptr;
    options = &found->second;
  }
  const auto found = options->find(name);
  return found != options->end() ? &found->second : nullptr;
}

const Preset* Registry::find_preset(std::string_view owner, std::string_view name) const {
  const auto found =
      std::ranges::find_if(presets_, [&](const Preset& p) { return p.owner == owner && p.name == name; });
  return found != presets_.end() ? &*found : nullptr;
}

std::vector<std::string> Registry::second_words(std::string_view first) const {
  std::vector<std::string> words;
  if (find_verb(first) != nullptr) return words;
  const std::string begin = concat(first, ' ');
  for (const Verb& verb : verbs_) {
    if (verb.name.starts_with(begin)) words.push_back(verb.name.substr(begin.size()));
  }
  return words;
}

const Verb* Registry::find_verb(std::string_view name) const {
  const auto found = std::ranges::find(verbs_, name, &Verb::name);
  return found != verbs_.end() ? &*found : nullptr;
}

std::vector<const Option*> Registry::options() const {
  std::vector<const Option*> out;
  for (const auto& [name, option] : options_) out.push_back(&option);
  for (const auto& [module, options] : of_models_) {
    for (const auto& [name, option] : options) out.push_back(&option);
  }
  std::ranges::stable_sort(out, {}, &Option::name);
  return out;
}

std::vector<const Option*> Registry::options(std::string_view module) const {
  std::vector<const Option*> out = options();
  std::erase_if(out, [&](const Option* option) { return is_model_option(option->name) && option->owner != module; });
  return out;
}

std::vector<const Preset*> Registry::presets(std::string_view owner) const {
  std::vector<const Preset*> out;
  for (const Preset& preset : presets_) {
    if (preset.owner == owner) out.push_back(&preset);
  }
  return out;
}

bool Registry::has_section(std::string_view section) const {
  return std::ranges::any_of(options(), [&](const Option* option) { return section_of(option->name) == section; });
}

}  // namespace titan::config
