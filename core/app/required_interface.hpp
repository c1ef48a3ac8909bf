#pragma once

#include <string_view>

#include "core/base/error.hpp"
#include "core/plugin/instance.hpp"

namespace titan::app {

/// An interface that a plugin says it provides. PluginError when it gives none, or one shorter than the first
/// release's.
template <class Interface>
PluginInterface<Interface> required_interface(const plugin::Instance& instance, std::string_view id) {
  const PluginInterface<Interface> found = instance.interface<Interface>(id);
  if (found.table == nullptr) {
    throw PluginError("[", found.plugin, "] the plugin declares an interface and does not give it: ", id);
  }
  // Nothing was released yet: the first release's size is today's.
  if (found.table->struct_size < sizeof(Interface)) {
    throw AbiError("[", found.plugin, "] the plugin's interface is too short: ", id, ", ", found.table->struct_size,
                   " bytes, expected ", sizeof(Interface), ": build the plugin with this release's SDK");
  }
  return found;
}

}  // namespace titan::app
