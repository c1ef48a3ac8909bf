#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace titan::observability {

/// The elements that a slice takes ("[0, :4]"; empty: all), of many the outer ones of each dimension. CommandError says
/// what is wrong with the slice.
std::string elements_text(const at::Tensor& tensor, const std::string& slice);

}  // namespace titan::observability
