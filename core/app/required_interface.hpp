#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/error.hpp"
#include "core/plugin/instance.hpp"
#include "titan/abi/strategy.h"

namespace titan::app {

/// Bytes of an interface in its first release: what came later is asked for before it is called.
template <class Interface>
inline constexpr std::size_t kFirstSize = sizeof(Interface);
template <>
inline constexpr std::size_t kFirstSize<titan_strategy_v1> = offsetof(titan_strategy_v1, backward_begin);

/// An interface that a plugin says it provides. PluginError when it gives none, or one shorter than the first
/// release's.
template <class Interface>
PluginInterface<Interface> required_interface(const plugin::Instance& instance, std::string_view id) {
  const PluginInterface<Interface> found = instance.interface<Interface>(id);
  if (found.table == nullptr) {
    throw PluginError("[", found.plugin, "] the plugin declares an interface and does not give it: ", id);
  }
  if (found.table->struct_size < kFirstSize<Interface>) {
    throw AbiError("[", found.plugin, "] the plugin's interface is too short: ", id, ", ", found.table->struct_size,
                   " bytes, expected ", kFirstSize<Interface>, ": build the plugin with this release's SDK");
  }
  return found;
}

}  // namespace titan::app
