#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace titan::observability {

/// "[64, 256]".
std::string list_text(at::IntArrayRef numbers);

/// "float32 [64, 256]".
std::string type_and_shape(const at::Tensor& tensor);

/// Why there are no numbers to read: "no elements", "no memory (meta)"; empty: there are.
std::string nothing_to_read(const at::Tensor& tensor);

/// The elements as float64 on the CPU, one after another.
at::Tensor readable(const at::Tensor& tensor);

/// Type, shape and numbers of the elements, lines: range, mean, standard deviation, norm, how many are zero, NaN and
/// inf, and where the first of these are. A tensor without elements or without memory says so.
std::string stats_text(const at::Tensor& tensor);

}  // namespace titan::observability
