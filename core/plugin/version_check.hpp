#pragma once

#include "core/plugin/facts.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin {

/// The libtorch this titan was built against; version is empty where it was built without one.
const TorchPin& host_torch_pin();

/// LoadProblem (76) unless a plugin of that ABI runs on this host: same major, no newer minor needed, a known tier.
void check_abi(const AbiFacts& abi);

/// LoadProblem (76) naming the field in which a torch-tier plugin's libtorch differs from `host`.
void check_torch_pin(const TorchPin& plugin, const TorchPin& host);

/// Checks an info block (not null, magic, size, ABI, pin, functions present) and copies who the plugin is. LoadProblem.
Facts read_identity(const titan_plugin_info* info, const TorchPin& host = host_torch_pin());

}  // namespace titan::plugin
