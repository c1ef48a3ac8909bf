#include "titan/abi/host.h"

int host_has_config_get(const titan_host* host);

int host_has_config_get(const titan_host* host) { return TITAN_HAS(host, config_get); }
