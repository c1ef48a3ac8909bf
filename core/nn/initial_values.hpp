#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/nn/tree.hpp"

namespace titan::nn {

/// The box that holds everything.
Box whole(const std::vector<std::int64_t>& shape);

/// Makes the initial values of one part of a parameter, on the CPU. Every element depends on the seed, the parameter's
/// name and its index in the whole parameter alone: a part equals that slice of the whole, bit for bit.
at::Tensor initial_values(const Parameter& parameter, std::uint64_t seed, const Box& part, at::ScalarType dtype);

}  // namespace titan::nn
