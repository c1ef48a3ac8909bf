#pragma once

#include <cstdint>

#include "core/nn/tree.hpp"
#include "core/train/ranks/ranks.hpp"

namespace titan::train {

/// Whether any part of a parameter of this rank's stage is stored on several ranks.
bool has_replicas(const nn::Tree& tree, const Ranks& ranks);

/// Compares the weights of every parameter, by hash, over the ranks that store the same part of it. A collective call.
/// InternalError on all ranks names the first parameter that differs, and the ranks. One rank compares nothing.
void compare_weights(const nn::Tree& tree, Ranks& ranks);

/// The same after a step's update: InternalError names the step too.
void check_drift(const nn::Tree& tree, Ranks& ranks, std::int64_t step);

/// The same of the gradients, which are complete. PluginError names the step too: a strategy says of a gradient that
/// every rank has the whole sum, and they have not.
void audit_gradients(const nn::Tree& tree, Ranks& ranks, std::int64_t step);

}  // namespace titan::train
