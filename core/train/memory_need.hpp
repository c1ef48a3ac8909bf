#pragma once

#include <cstdint>
#include <vector>

#include "core/nn/tree.hpp"

namespace titan::train {

/// Bytes that a parameter's boxes take while training with Adam: storage, gradient, two moments, and the compute form
/// where it is another dtype and not a strategy's. Activations come on top.
std::int64_t bytes_per_parameter(const nn::Precision& precision, bool host_makes_compute = true);

/// Lists the model's parameters, each once: those of this rank, then those of other pipeline stages.
std::vector<nn::Parameter*> all_parameters(const nn::Tree& tree);

/// Counts the elements of all parameters of the model, those of other pipeline stages too.
std::int64_t num_elements(const nn::Tree& tree);

/// ResourceError, with the arithmetic, when the weights, gradients and optimizer state that this rank stores, times the
/// number of ranks on this machine, exceed its memory of `capacity` bytes (0: unknown, nothing is checked). Call when
/// the parameters have been placed.
void check_memory(const nn::Tree& tree, const nn::Precision& precision, std::int64_t ranks, std::int64_t capacity);
/// The same for a number of stored elements of `bytes` each.
void check_memory(std::int64_t num_elements, std::int64_t bytes, std::int64_t ranks, std::int64_t capacity);

}  // namespace titan::train
