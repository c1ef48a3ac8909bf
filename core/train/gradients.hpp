#pragma once

#include <cstdint>

#include "core/nn/tree.hpp"

namespace titan::train {

/// Throws the NonFiniteError for gradients whose norm is not finite: names the step and the first parameters concerned.
[[noreturn]] void refuse_gradients(const nn::Tree& tree, std::int64_t step, double norm);

}  // namespace titan::train
