#pragma once

#include <cstdint>
#include <string>

#include "titan/sdk/config.hpp"

namespace titan::observability {

/// Whose trace it is.
struct TraceOrigin {
  std::uint32_t rank, world_size;
  bool is_cuda;
  std::int64_t first_step, last_step;
};

/// Members of a trace's object, as JSON without braces: "distributedInfo", which PyTorch's tools look for, and "titan".
std::string trace_head(const TraceOrigin& origin, const sdk::Config& config);

}  // namespace titan::observability
