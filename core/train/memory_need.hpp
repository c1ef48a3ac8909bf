#pragma once

#include <cstdint>

#include "core/nn/tree.hpp"

namespace titan::train {

/// Bytes that a parameter's boxes take while training with Adam: storage, compute form where it is another dtype,
/// gradient, and two moments. Activations come on top.
std::int64_t bytes_per_parameter(const nn::Precision& precision);

/// Counts the elements of all parameters.
std::int64_t num_elements(const nn::Tree& tree);

/// ResourceError, with the arithmetic, when weights, gradients and optimizer state alone exceed the machine's memory of
/// `capacity` bytes (0: unknown, nothing is checked).
void check_memory(std::int64_t num_parameters, const nn::Precision& precision, std::int64_t capacity);

}  // namespace titan::train
