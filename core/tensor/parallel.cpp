#include "core/tensor/parallel.hpp"

// The one unit compiled with OpenMP: libtorch's template opens its parallel region where it is instantiated.
#include <ATen/Parallel.h>

namespace titan::tensor {

void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                  c10::function_ref<void(std::int64_t first, std::int64_t last)> work) {
  at::parallel_for(begin, end, grain, work);
}

}  // namespace titan::tensor
