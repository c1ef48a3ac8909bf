#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace titan::observability {

/// "float32 [64, 256]".
std::string type_and_shape(const at::Tensor& tensor);

/// Type, shape and numbers of the elements, lines: range, mean, standard deviation, norm, how many are zero, NaN and
/// inf, and where the first of these are. A tensor without elements or without memory says so.
std::string stats_text(const at::Tensor& tensor);

/// The elements that a slice takes ("[0, :4]"; empty: all), of many the outer ones of each dimension. CommandError says
/// what is wrong with the slice.
std::string elements_text(const at::Tensor& tensor, const std::string& slice);

}  // namespace titan::observability
