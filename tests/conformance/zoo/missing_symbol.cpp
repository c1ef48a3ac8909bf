// Calls a function that no library defines.
#include "titan/abi/plugin.h"

namespace at {
int gone(int);
}

TITAN_PLUGIN_NOTE(TITAN_TIER_STABLE);

extern "C" __attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) {
  return at::gone(1) == 0 ? nullptr : nullptr;
}
