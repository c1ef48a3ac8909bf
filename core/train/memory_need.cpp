#include "core/train/memory_need.hpp"

#include <c10/core/ScalarType.h>

#include <cmath>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

double gibibytes(double bytes) { return std::round(bytes / (1U << 30U) * 10) / 10; }

}  // namespace

std::int64_t bytes_per_parameter(const nn::Precision& precision) {
  const auto size = [](at::ScalarType type) { return static_cast<std::int64_t>(c10::elementSize(type)); };
  const std::int64_t compute = precision.compute == precision.storage ? 0 : size(precision.compute);
  return 3 * size(precision.storage) + compute + size(precision.reduce);
}

std::int64_t num_elements(const nn::Tree& tree) {
  std::int64_t total = 0;
  for (const auto& parameter : tree.parameters()) {
    std::int64_t elements = 1;
    for (const std::int64_t size : parameter->shape) elements *= size;
    total += elements;
  }
  return total;
}

void check_memory(std::int64_t num_parameters, const nn::Precision& precision, std::int64_t capacity) {
  const std::int64_t bytes = bytes_per_parameter(precision);
  const double need = static_cast<double>(num_parameters) * static_cast<double>(bytes);
  if (capacity == 0 || need <= static_cast<double>(capacity)) return;
  throw ResourceError("[train] the model does not fit this machine: ", num_parameters, " parameters x ", bytes,
                      " bytes (weights, gradients, optimizer state) = ", gibibytes(need), " GiB, memory ",
                      gibibytes(static_cast<double>(capacity)), " GiB");
}

}  // namespace titan::train
