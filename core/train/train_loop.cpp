#include "core/train/train_loop.hpp"

#include <cmath>
#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/position.hpp"
#include "core/base/quit.hpp"
#include "core/tensor/allocator.hpp"
#include "core/train/ending.hpp"

namespace titan::train {
namespace {

/// The clocks and counters of one run.
struct Progress {
  double run_begin = monotonic_seconds();
  double step_begin = run_begin;
};

/// Bytes of tensors at their most since the last call.
std::int64_t take_peak_memory() {
  const std::int64_t peak = tensor::peak_bytes();
  tensor::reset_peak();
  return peak;
}

/// Seconds since the last call that somebody held the ranks.
double take_held_seconds() {
  Position* position = current_position();
  return position != nullptr ? std::exchange(position->held_seconds, 0) : 0;
}

titan_step_event step_event(const StepResult& result, const LoopParts& parts, Progress& progress) {
  const double now = monotonic_seconds();
  titan_step_event event{};
  event.struct_size = sizeof event;
  event.is_last = result.step == parts.begin.last_step ? 1 : 0;
  event.step = result.step;
  event.loss = result.loss;
  event.grad_norm = result.grad_norm;
  event.lr = result.lr;
  event.num_tokens = result.num_tokens;
  event.total_tokens = parts.trainer.total_tokens();
  event.step_seconds = now - progress.step_begin - take_held_seconds();
  event.data_seconds = result.seconds.data;
  event.forward_seconds = result.seconds.forward;
  event.backward_seconds = result.seconds.backward;
  event.optimizer_seconds = result.seconds.optimizer;
  event.elapsed_seconds = now - progress.run_begin;
  event.peak_memory = take_peak_memory();
  progress.step_begin = now;
  return event;
}

void validate(LoopParts& parts, std::int64_t step, Progress& progress) {
  const PhaseScope phase(TITAN_IN_VALIDATION);
  const ValidationResult result = parts.validator->run();
  titan_validation_event event{};
  event.struct_size = sizeof event;
  event.step = step;
  event.loss = result.loss;
  event.num_tokens = result.num_tokens;
  event.seconds = result.seconds;
  event.peak_memory = take_peak_memory();
  parts.observers.validation(event);
  // A step's time holds no validation.
  progress.step_begin = monotonic_seconds();
}

void announce_first_step(double program_begin) {
  const double seconds = std::round((monotonic_seconds() - program_begin) * 1000) / 1000;
  log_info("train", "first step done ", seconds, " s after the start of the program");
}

/// Saves what is due after a step; a step's time holds no save.
void save(LoopParts& parts, std::int64_t step, Progress& progress) {
  if (parts.checkpointer == nullptr) return;
  const PhaseScope phase(TITAN_IN_SAVE);
  parts.checkpointer->step_end(step, step == parts.begin.last_step);
  progress.step_begin = monotonic_seconds();
}

void end_with_data(LoopParts& parts) {
  const std::int64_t step = parts.trainer.steps_done();
  if (parts.checkpointer != nullptr) parts.checkpointer->run_end(/*is_early=*/parts.end_of_data_is_error);
  if (!parts.end_of_data_is_error) {
    log_warning("train", "the data ended before the last step, training ends here: step ", step, " of ",
                parts.begin.last_step, ": --dataloader.repeat begins again at its end");
    return;
  }
  if (parts.ranks != nullptr) parts.ranks->part();
  throw DataError("[train] the data ended before the last step, and dataloader.end_of_data is error: steps done ", step,
                  ": --dataloader.repeat begins again at its end");
}

void run_steps(LoopParts& parts) {
  Progress progress;
  const std::int64_t last = parts.begin.last_step;
  while (parts.trainer.steps_done() < last) {
    const std::optional<StepResult> result = parts.trainer.step();
    if (!result) return end_with_data(parts);
    parts.observers.step_end(step_event(*result, parts, progress));
    if (result->step == parts.begin.first_step) announce_first_step(parts.program_begin);
    if (parts.validator != nullptr && parts.validator->is_due(result->step)) validate(parts, result->step, progress);
    save(parts, result->step, progress);
  }
}

/// What ranks that have agreed to end still do together: one that fails in it is missed by the others.
template <class Action>
void save_together(LoopParts& parts, const Action& action) {
  if (parts.checkpointer == nullptr) return;
  const PhaseScope phase(TITAN_IN_SAVE);
  if (parts.ranks != nullptr) parts.ranks->rejoin();
  action(*parts.checkpointer);
}

/// Saves before an agreed stop, and ends with Exit::stopped; goes on with the stop where there is nothing to save. All
/// is done where the last step was, and a validation alone is given up.
void stop(LoopParts& parts, const Interrupted& interruption) {
  const bool is_done = parts.checkpointer != nullptr && parts.trainer.steps_done() >= parts.begin.last_step;
  std::optional<std::filesystem::path> saved;
  save_together(parts, [&](Checkpointer& checkpointer) {
    if (is_done) return checkpointer.run_end();
    saved = checkpointer.stop();
  });
  if (is_done) return;
  if (parts.ranks != nullptr) parts.ranks->part();
  if (!saved) throw Interrupted(interruption.signal());
  throw Stopped("[train] ", interruption.what(), ", the state is saved: ", printable(saved->native()), ": ",
                parts.checkpointer->continuation());
}

void run_steps_or_stop(LoopParts& parts) {
  std::optional<Interrupted> interruption;
  try {
    run_steps(parts);
  } catch (const Quit&) {
    throw;  // of this rank alone: nothing is done together any more
  } catch (const Interrupted& interrupted) {
    interruption = interrupted;
  } catch (const Error&) {
    // An end that all ranks have agreed on: a save of an earlier step that is under way is still good.
    if (parts.ranks == nullptr || !parts.ranks->has_agreed_to_end()) throw;
    save_together(parts, [](Checkpointer& checkpointer) { checkpointer.finish(); });
    parts.ranks->part();
    throw;
  }
  if (interruption) stop(parts, *interruption);
}

void end_run(LoopParts& parts, const Ending& ending) {
  titan_run_end_event event{};
  event.struct_size = sizeof event;
  event.code = ending.code;
  event.step = parts.trainer.steps_done();
  if (ending.code != 0) event.message = {ending.message.data(), ending.message.size()};
  parts.observers.run_end(event);
}

}  // namespace

void run_training_loop(LoopParts& parts) {
  parts.observers.run_begin(parts.begin);
  try {
    run_steps_or_stop(parts);
  } catch (...) {
    end_run(parts, ending_of(std::current_exception()));
    throw;
  }
  end_run(parts, {});
}

}  // namespace titan::train
