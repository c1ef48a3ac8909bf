#pragma once

#include "core/config/engine.hpp"
#include "core/config/sizes.hpp"

namespace titan::train {

/// Tries the layout run.mesh as its rank run.ranks.rank will, without data, tensors or other ranks: strategies judge it
/// and place the model's tree, and the order of a pipeline is checked. Throws what refuses it, as train() would. A
/// strategy that calls other ranks while it is applied ends the trial: what comes after is not known before they run.
void try_layout(const EngineRun& run, const config::Sizes& sizes);

}  // namespace titan::train
