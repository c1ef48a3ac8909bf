#pragma once

#include "core/optim/adam_state.hpp"

namespace titan::optim {

/// Steps one group by libtorch's fused kernel, a parameter at a time: gradients are cast and scaled into temporaries.
/// InternalError when a gradient is missing.
void fused_step(AdamGroup& group, const AdamStep& step);

/// Steps one group by elementwise operators, a parameter at a time. InternalError as above.
void for_loop_step(AdamGroup& group, const AdamStep& step);

}  // namespace titan::optim
