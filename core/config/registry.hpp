#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option.hpp"

namespace titan::config {

/// Everything that may be configured: options and presets of the core and of every discovered plugin.
class Registry {
 public:
  /// Adds an option. PluginError when the name is taken (names both owners), malformed, or its default is not valid.
  void add(Option option);
  /// Adds a preset. PluginError when the owner already has one of that name.
  void add(Preset preset);

  const Option* find(std::string_view name) const;
  const Preset* find_preset(std::string_view owner, std::string_view name) const;
  /// Options in order of name.
  std::vector<const Option*> options() const;
  /// Presets of one owner in order of declaration.
  std::vector<const Preset*> presets(std::string_view owner) const;

 private:
  std::map<std::string, Option, std::less<>> options_;
  std::vector<Preset> presets_;
};

/// Declares the core's own options: training.*, optimizer.*, lr_scheduler.*, dataloader.*, validator.*, debug.*, ...
void add_core_options(Registry& registry);

}  // namespace titan::config
