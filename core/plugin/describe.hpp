#pragma once

#include "core/plugin/facts.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin {

/// Calls the plugin's describe() and adds what it emits to `identity`, checked by check_facts(). LoadProblem: describe
/// failed or threw, or declared something malformed (70), or filled a struct too small (76).
Facts describe(const titan_plugin_info& info, Facts identity);

}  // namespace titan::plugin
