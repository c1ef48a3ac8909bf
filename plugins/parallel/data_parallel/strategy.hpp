#pragma once

#include "plugins/parallel/part.hpp"

namespace titan::parallel {

/// DDP, FSDP and HSDP, one strategy: applied last, it shards what the others have left.
extern const Strategy kDataParallel;

}  // namespace titan::parallel
