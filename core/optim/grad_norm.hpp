#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace titan::optim {

enum class NormType { two, infinity };

/// Computes the norm of all elements of all tensors (CPU, floating), accumulated in fp64. The result does not depend on
/// the number of threads. NaN when an element is NaN, infinite when one is infinite.
double gradient_norm(const std::vector<at::Tensor>& gradients, NormType type = NormType::two);

/// Computes the square of the 2-norm, as gradient_norm().
double sum_of_squares(const std::vector<at::Tensor>& gradients);

/// Returns min(1, max_norm / (norm + 1e-6)), the factor that brings gradients of that norm down to max_norm; NaN when
/// the norm is NaN.
double clip_coefficient(double norm, double max_norm);

}  // namespace titan::optim
