#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "titan/sdk/guard.hpp"

namespace titan::observability {

/// A tensor that a rank keeps from step to step.
struct KeptTensor {
  std::int32_t kind;  // TITAN_STATE_*
  std::string name;   // full
  at::Tensor tensor;
};

/// What the rank keeps of these kinds, in the host's order. Training thread.
std::vector<KeptTensor> kept_state(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds);

}  // namespace titan::observability
