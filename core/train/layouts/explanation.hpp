#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "core/config/mesh.hpp"
#include "core/train/layouts/whole_tensors.hpp"

namespace titan::train {

/// Largest difference over the largest element of the reference: max|a - b| / max|b|. Infinite where shapes differ or
/// the quotient is no number; 0 for equal tensors.
double relative_difference(const at::Tensor& a, const at::Tensor& b);

/// What went wrong with a tensor that differs from the reference, in a few words: ranks that should hold the same and
/// hold summands, a factor that is the degree of an axis, parts that belong to other ranks. Names the axes of the mesh.
/// Empty where it is none of these.
std::string explain(const PartedTensor& tensor, const at::Tensor& reference, const config::Mesh& mesh,
                    double tolerance);

}  // namespace titan::train
