#pragma once

#include "core/config/engine.hpp"

namespace titan::train {

/// Runs the whole training that `run` configures: checks options, tokenizer and data, builds the model, trains. Throws
/// titan::Error and Interrupted.
void train(const EngineRun& run);

}  // namespace titan::train
