#pragma once

#include "core/base/stop.hpp"
#include "core/nn/tree.hpp"

namespace titan::train {

/// Makes forward and backward throw Interrupted between two blocks of the chain once a stop is requested. The flag must
/// outlive the tree. Attach before the first step.
void stop_between_blocks(nn::Tree& tree, const StopFlag& stop);

}  // namespace titan::train
