#include "core/train/memory_need.hpp"

#include <c10/core/ScalarType.h>

#include <cmath>
#include <set>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) elements *= size;
  return elements;
}

double gibibytes(double bytes) { return std::round(bytes / (1U << 30U) * 10) / 10; }

}  // namespace

std::int64_t bytes_per_parameter(const nn::Precision& precision, bool host_makes_compute) {
  const auto size = [](at::ScalarType type) { return static_cast<std::int64_t>(c10::elementSize(type)); };
  const bool has_compute = host_makes_compute && precision.compute != precision.storage;
  return 3 * size(precision.storage) + (has_compute ? size(precision.compute) : 0) + size(precision.reduce);
}

std::vector<nn::Parameter*> all_parameters(const nn::Tree& tree) {
  std::vector<nn::Parameter*> parameters;
  for (const auto& parameter : tree.parameters()) parameters.push_back(parameter.get());
  std::set<const nn::Parameter*> known(parameters.begin(), parameters.end());  // one may belong to several modules
  for (nn::ModuleId module = 0; module < tree.num_modules(); ++module) {
    for (nn::Parameter* parameter : tree.parameters(module)) {
      if (known.insert(parameter).second) parameters.push_back(parameter);
    }
  }
  return parameters;
}

std::int64_t num_elements(const nn::Tree& tree) {
  std::int64_t total = 0;
  for (const nn::Parameter* parameter : all_parameters(tree)) total += product(parameter->shape);
  return total;
}

void check_memory(const nn::Tree& tree, const nn::Precision& precision, std::int64_t ranks, std::int64_t capacity) {
  std::int64_t stored = 0;
  bool host_makes_compute = false;
  for (const auto& parameter : tree.parameters()) {
    stored += product(parameter->part.size);
    host_makes_compute = host_makes_compute || (parameter->owned_forms & TITAN_OWN_COMPUTE) == 0;
  }
  check_memory(stored, bytes_per_parameter(precision, host_makes_compute), ranks, capacity);
}

void check_memory(std::int64_t num_elements, std::int64_t bytes, std::int64_t ranks, std::int64_t capacity) {
  const double need = static_cast<double>(num_elements) * static_cast<double>(bytes) * static_cast<double>(ranks);
  if (capacity == 0 || need <= static_cast<double>(capacity)) return;
  const std::string times = ranks == 1 ? std::string() : concat(" x ", ranks, " ranks on this machine");
  throw ResourceError("[train] the model does not fit this machine: ", num_elements, " parameters x ", bytes,
                      " bytes (weights, gradients, optimizer state)", times, " = ", gibibytes(need), " GiB, memory ",
                      gibibytes(static_cast<double>(capacity)), " GiB");
}

}  // namespace titan::train
