#pragma once

#include <vector>

#include "core/optim/adam_state.hpp"

namespace titan::optim {

/// Tells whether our own kernel takes all of the groups' parameters: contiguous fp32 or bf16 storage on the CPU, or of
/// a rehearsal, with a compute form of fp32 or bf16.
bool has_adam_pass(const std::vector<AdamGroup>& groups);

/// Steps all parameters in one pass over memory, and writes the compute forms that the host owns along with storage.
/// The result does not depend on the number of threads. InternalError when a gradient is missing.
void adam_pass(std::vector<AdamGroup>& groups, const AdamStep& step);

}  // namespace titan::optim
