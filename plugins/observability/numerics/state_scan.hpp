#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "titan/sdk/guard.hpp"

namespace titan::observability {

/// Looks at what a rank keeps of these kinds (TITAN_STATE_*), which come in order of their importance, and says which
/// of it is not finite: "layers.0.wq.weight.exp_avg is not finite: inf at [3, 5], ...; and 2 more: ...". Empty where
/// all is. Indices are those of whole parameters. Training thread.
std::string describe_state_trouble(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds);

}  // namespace titan::observability
