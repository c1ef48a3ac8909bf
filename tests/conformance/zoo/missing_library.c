/* Links a library that is not there when the plugin is opened. */
#include "titan/abi/plugin.h"

int zoo_gone(void);

TITAN_PLUGIN_NOTE(TITAN_TIER_STABLE);

__attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) {
  return zoo_gone() == 0 ? NULL : NULL;
}
