#pragma once

#include <memory>
#include <string>

#include "core/config/engine.hpp"
#include "core/plugin/host_table.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin {

/// One initialised plugin: init() ran in the constructor, shutdown() runs in the destructor. One thread at a time.
class Instance {
 public:
  /// `info` was checked and lives as long as the process. Throws what init() reports.
  Instance(const titan_plugin_info& info, std::string name, const HostServices& services);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// The table this instance was given; its errors may be read and freed through it.
  const titan_host* host() const noexcept { return host_.get(); }

  /// The instance's interface of that id, or null. PluginError when it breaks the contract.
  const void* get_interface(std::string_view id) const;

  /// The same with its type, for the engine. `table` is null where the plugin has no such interface.
  template <class Interface>
  PluginInterface<Interface> interface(std::string_view id) const {
    return {name_, ctx_, static_cast<const Interface*>(get_interface(id))};
  }

 private:
  const titan_plugin_info& info_;
  std::string name_;  // breadcrumbs point to it
  HostTable host_;
  void* ctx_ = nullptr;
};

}  // namespace titan::plugin
