#include "core/optim/kernels/norm_kernel.hpp"

#include "core/tensor/vector.hpp"

namespace titan::optim::kernels {
namespace {

// Independent sums: as many as four vector registers hold, which covers the delay of an addition.
constexpr std::int64_t kLanes = 32;

template <class T>
TITAN_INLINE double sum(const T* values, std::int64_t count) {
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(tensor::vector::load(values[i + lane]));
      lanes[lane] += value * value;
    }
  }
  for (std::int64_t lane = 0; i < count; ++i, ++lane) {
    const auto value = static_cast<double>(tensor::vector::load(values[i]));
    lanes[lane] += value * value;
  }
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

}  // namespace

TITAN_VECTOR_CLONES double sum_of_squares(const float* values, std::int64_t count) { return sum(values, count); }

TITAN_VECTOR_CLONES double sum_of_squares(const c10::BFloat16* values, std::int64_t count) {
  return sum(values, count);
}

}  // namespace titan::optim::kernels
