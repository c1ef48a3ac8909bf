#pragma once

#include <vector>

#include "core/nn/tree.hpp"

namespace titan::train {

/// The collected gradients of a tree, in order of its parameters, after Tree::check_ledger(), which refuses missing
/// ones.
std::vector<at::Tensor> collected_gradients(const nn::Tree& tree);

/// Throws the NonFiniteError for gradients whose norm is not finite: names the step and the first parameters concerned.
[[noreturn]] void refuse_gradients(const nn::Tree& tree, std::int64_t step, double norm);

}  // namespace titan::train
