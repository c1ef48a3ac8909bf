#pragma once

#include <cstdint>

#include "core/train/observers.hpp"
#include "core/train/trainer.hpp"
#include "core/train/validator.hpp"

namespace titan::train {

/// What a run is made of; all of it outlives the run.
struct LoopParts {
  Trainer& trainer;
  Validator* validator = nullptr;  // null: no validation
  Observers& observers;
  titan_run_event begin{};   // its last_step is the number of steps
  double program_begin = 0;  // monotonic seconds
};

/// Trains to the last step, or to the end of the data (said in a warning), and tells the observers: run begin, each
/// step, each validation, and run end whatever ended the run. Throws what the steps throw.
void run_training_loop(LoopParts& parts);

}  // namespace titan::train
