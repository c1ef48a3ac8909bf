#pragma once

#include "plugins/parallel/part.hpp"

namespace titan::parallel {

/// Experts spread over ranks, which send each other the tokens they chose.
extern const Strategy kExpertParallel;

}  // namespace titan::parallel
