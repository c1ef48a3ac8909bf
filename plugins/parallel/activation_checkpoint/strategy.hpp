#pragma once

#include "plugins/parallel/part.hpp"

namespace titan::parallel {

/// Activation checkpointing: blocks of the chain that keep little of their forward and run it again in backward.
extern const Strategy kActivationCheckpoint;

}  // namespace titan::parallel
