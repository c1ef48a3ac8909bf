#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/nn/tree.hpp"

namespace titan::train {

/// The dtype of a name such as "bfloat16". ConfigError names the option and the names it takes.
at::ScalarType parse_dtype(std::string_view option, std::string_view name);

/// The precision of training.dtype, training.mixed_precision_param and training.mixed_precision_reduce.
/// ConfigError when the compute dtype has more digits than the storage it is made from.
nn::Precision make_precision(std::string_view dtype, std::string_view param, std::string_view reduce);

/// Says what is computed in what: "storage float32, compute bfloat16, gradients float32".
std::string describe(const nn::Precision& precision);

/// What is unusual about a precision and would surprise: one text each.
std::vector<std::string> remarks(const nn::Precision& precision);

}  // namespace titan::train
