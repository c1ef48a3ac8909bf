#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace titan::tensor {

/// Runs `work(first, last)` over [begin, end) in parts of at least `grain`, on libtorch's own threads. `work` must not
/// call libtorch. Exceptions come back to the caller.
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                  c10::function_ref<void(std::int64_t first, std::int64_t last)> work);

}  // namespace titan::tensor
