#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/config/registry.hpp"
#include "core/plugin/discovery.hpp"
#include "core/plugin/instance.hpp"

namespace titan::plugin {

/// The plugins of this process. Used on one thread; the instances it makes are independent of it.
class PluginRegistry {
 public:
  /// Searches, and logs one warning for each undemanded plugin that cannot be used. Opens a library only where there is
  /// no manifest or the library changed after it. Throws as discover() does.
  explicit PluginRegistry(const Search& search, LibrarySource& libraries = system_libraries());

  const std::vector<Plugin>& plugins() const noexcept { return found_.plugins; }
  const std::vector<BrokenPlugin>& broken() const noexcept { return found_.broken; }
  /// Plugins that provide an interface ("titan.observer/1"), in order of search.
  std::vector<const Plugin*> providing(std::string_view interface_id) const;

  /// The model plugin of that name. InputError (66) lists the names there are, with the nearest one.
  const Plugin& find_model(std::string_view name) const;

  /// Declares every plugin's options and presets, and the model plugins as modules. PluginError of Registry::add.
  void register_options(config::Registry& registry) const;

  /// Opens, checks and initialises a plugin. AbiError, InputError, or what init() reports.
  std::unique_ptr<Instance> load(const Plugin& plugin, const HostServices& services) const;

 private:
  LibrarySource& libraries_;
  Found found_;
};

}  // namespace titan::plugin
