#pragma once

#include "plugins/parallel/part.hpp"

namespace titan::parallel {

/// Context parallelism: splits each row of tokens over the axis "cp", and makes attention a ring.
extern const Strategy kContextParallel;

}  // namespace titan::parallel
