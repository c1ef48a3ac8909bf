#pragma once

#include <cstdint>

#include "core/nn/tree.hpp"

namespace titan::optim {

/// Whether the rank counts its part of the parameter in sums over all ranks, so that each element counts once: along
/// every axis with more than one rank the parameter is sharded, or the rank stands at 0. Along pp each has its own
/// parameters.
bool counts_here(const nn::Parameter& parameter, const config::Mesh& mesh, std::int64_t rank);

/// Adds up the squares of all gradients of the tree that the rank counts, in fp64: summed over the ranks it is the
/// square of the global gradient norm. Gradients are complete (nn::Tree::check_ledger).
double counted_squares(const nn::Tree& tree, const config::Mesh& mesh, std::int64_t rank);

}  // namespace titan::optim
