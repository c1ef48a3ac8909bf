#pragma once

#include "plugins/parallel/part.hpp"

namespace titan::parallel {

/// Tensor and sequence parallelism, along the axis "tp".
extern const Strategy kTensorParallel;

}  // namespace titan::parallel
