#pragma once

#include <string>
#include <vector>

#include "core/config/layouts.hpp"
#include "core/nn/tree.hpp"

namespace titan::train {

/// Axes of the mesh along which some parameter of the tree is not cut into equal parts: ranks that differ there may
/// have different work.
std::vector<config::Axis> uneven_axes(const nn::Tree& tree, const config::Mesh& mesh);

/// The sizes of what a rank stores of each parameter, as a text: its tree is built and placed, without tensors.
std::string part_sizes(const LayoutRank& made, const config::Mesh& mesh, std::int64_t rank);

}  // namespace titan::train
