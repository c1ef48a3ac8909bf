#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "titan/sdk/guard.hpp"

namespace titan::observability {

/// Looks at what a rank keeps of these kinds (TITAN_STATE_*), which come in order of their importance, and says which
/// of it is broken: not finite (a buffer: NaN), negative where squares are meant, or with one value beyond all measure:
/// "layers.0.wq.weight.exp_avg (float32 [4, 8]): it is not finite: inf at [3, 5], ...; others like it: ...". Empty
/// where nothing is. Indices are those of whole parameters. Training thread.
std::string describe_state_trouble(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds);

/// The same of what is finite and so large that it may be why a step came to no finite numbers.
std::string describe_large_state(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds);

}  // namespace titan::observability
