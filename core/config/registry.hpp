#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option.hpp"
#include "core/config/verb.hpp"

namespace titan::config {

/// Everything that may be said on the command line or in a configuration file: options and presets of the core and of
/// every discovered plugin, and the program's verbs.
///
/// Names are unique, with one exception: options in section `model.` belong to the model plugin ("module") that
/// declares them, and several modules may declare the same name. A run sees those of its own module alone.
/// Pointers stay valid as long as the registry, also when it is moved.
class Registry {
 public:
  /// Adds an option. PluginError when the name is taken (names both owners), malformed, or its default is not valid.
  void add(Option option);
  /// Adds a preset. PluginError when the owner already has one of that name.
  void add(Preset preset);
  /// Adds a verb. InternalError when one of its flags has an option's name.
  void add(Verb verb);
  /// Names a plugin that provides `titan.model/1`; `model.*` options of other owners are refused by check().
  void add_module(std::string owner);

  /// Checks what holds once everything is declared. PluginError: `model.*` options of an owner that is no module, a
  /// preset whose base is missing or circular, or that sets an unknown option or a value the option does not accept.
  void check() const;

  /// The option as a run of `module` sees it, or null. Without a module there are no `model.*` options.
  const Option* find(std::string_view name, std::string_view module = {}) const;
  const Preset* find_preset(std::string_view owner, std::string_view name) const;
  const Verb* find_verb(std::string_view name) const;
  /// The second words of verbs that begin with this one; empty when it is a verb itself.
  std::vector<std::string> second_words(std::string_view first) const;

  /// All options in order of name, then owner.
  std::vector<const Option*> options() const;
  /// The options a run of `module` sees, in order of name.
  std::vector<const Option*> options(std::string_view module) const;
  /// Presets of one owner in order of declaration.
  std::vector<const Preset*> presets(std::string_view owner) const;
  const std::vector<std::string>& modules() const { return modules_; }
  bool has_module(std::string_view name) const;
  const std::vector<Verb>& verbs() const { return verbs_; }
  /// Whether any option is declared in a section ("metrics"), whatever its owner.
  bool has_section(std::string_view section) const;

 private:
  using Options = std::map<std::string, Option, std::less<>>;

  void check_preset(const Preset& preset) const;

  Options options_;                                        // all but model.*
  std::map<std::string, Options, std::less<>> of_models_;  // by module
  std::vector<Preset> presets_;
  std::vector<std::string> modules_;
  std::vector<Verb> verbs_;
};

/// Whether an option belongs to the selected model plugin: its name is in section `model.`.
bool is_model_option(std::string_view name);

/// The part of a name before its last point: "training" of "training.steps", empty for "dump_folder".
std::string_view section_of(std::string_view name);
/// The part after its last point.
std::string_view key_of(std::string_view name);

/// Declares the core's own options: training.*, optimizer.*, lr_scheduler.*, dataloader.*, validator.*, debug.*, ...
void add_core_options(Registry& registry);

}  // namespace titan::config
