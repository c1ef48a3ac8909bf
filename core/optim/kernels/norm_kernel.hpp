#pragma once

#include <c10/util/BFloat16.h>

#include <cstdint>

namespace titan::optim::kernels {

/// Adds up the squares of `count` elements, squares and sums in fp64, in a fixed order.
double sum_of_squares(const float* values, std::int64_t count);
double sum_of_squares(const c10::BFloat16* values, std::int64_t count);

}  // namespace titan::optim::kernels
