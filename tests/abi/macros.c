/* Uses every macro of the ABI the way a plugin does; compiled as C and as C++. */
#include "titan/abi/all.h"

TITAN_PLUGIN_NOTE(TITAN_TIER_STABLE);

const char* interface_ids(int index);
int reads_late_field(const titan_observer_v1* observer);

const char* interface_ids(int index) {
  static const char* const kIds[] = {TITAN_MODEL_V1, TITAN_OBSERVER_V1, TITAN_TENSOR_V1, TITAN_TREE_V1,
                                     TITAN_PLUGIN_QUERY_SYMBOL};
  return kIds[index];
}

int reads_late_field(const titan_observer_v1* observer) {
  return TITAN_HAS(observer, run_end) && observer->run_end != NULL;
}
