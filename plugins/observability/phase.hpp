#pragma once

#include <cstdint>
#include <string_view>

namespace titan::observability {

/// "forward", "optimizer"; "nowhere" for a number that is no TITAN_IN_*.
std::string_view phase_name(std::int32_t phase);

}  // namespace titan::observability
