#pragma once

#include <cstdint>

#include "core/train/checkpoint/checkpointer.hpp"
#include "core/train/observers.hpp"
#include "core/train/trainer.hpp"
#include "core/train/validator.hpp"

namespace titan::train {

/// What a run is made of; all of it outlives the run.
struct LoopParts {
  Trainer& trainer;
  Validator* validator = nullptr;  // null: no validation
  Observers& observers;
  titan_run_event begin{};               // its last_step is the number of steps
  double program_begin = 0;              // monotonic seconds
  Ranks* ranks = nullptr;                // null: one
  Checkpointer* checkpointer = nullptr;  // null: the run does not save
  bool end_of_data_is_error = false;
};

/// Trains to the last step, or to the end of the data (said in a warning, or a DataError where it is an error), saves
/// what is due, and tells the observers: run begin, each step, each validation, and run end whatever ended the run.
/// Throws what the steps throw. A stop that came to a saved step becomes an Error of Exit::stopped that names it.
void run_training_loop(LoopParts& parts);

}  // namespace titan::train
