#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/stop.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"
#include "core/optim/lr_schedule.hpp"
#include "core/train/batch_source.hpp"
#include "core/train/guards.hpp"
#include "core/train/judging.hpp"
#include "core/train/passes.hpp"
#include "core/train/pipeline/pipeline.hpp"
#include "core/train/ranks/agreement.hpp"
#include "core/train/ranks/strategies.hpp"

namespace titan::train {

/// What one step did.
struct StepResult {
  std::int64_t step = 0;        // 1-based
  double loss = 0;              // sum of cross-entropies / valid tokens, of all ranks, before the update
  double grad_norm = 0;         // global, before clipping
  double lr = 0;                // of the first parameter group
  std::int64_t num_tokens = 0;  // of this rank
  std::int64_t all_tokens = 0;  // of all ranks
  std::int64_t num_valid = 0;   // of all ranks
  StepSeconds seconds;
};

/// Trains a materialised tree, one optimizer step at a call. One thread at a time.
class Trainer {
 public:
  struct Options {
    std::int64_t num_micro_batches = 1;  // of a step; their gradients are summed
    double max_norm = 1.0;
    Ranks* ranks = nullptr;            // null: one
    Strategies* strategies = nullptr;  // null: none
    Pipeline* pipeline = nullptr;      // null: this rank runs the whole chain
    Guards* guards = nullptr;          // null: none
    /// Whether a stop waits for a step's end, all of whose state a checkpoint can hold: else it is noticed inside too.
    bool stops_between_steps = false;
    std::int64_t audit_freq = 0;                       // steps between two audits of replicated gradients; 0: none
    std::int64_t drift_check_freq = 0;                 // steps between two checks of replicated weights; 0: none
    std::chrono::milliseconds train_timeout{100'000};  // of waits after the first step
  };

  /// Tree, source, flag (may be null) and what the options name must outlive the trainer; the optimizer is over the
  /// tree's parameters.
  Trainer(nn::Tree& tree, BatchSource& source, optim::AdamOptimizer optimizer, optim::LrSchedule schedule,
          const Options& options, const StopFlag* stop = nullptr);

  /// Fetches the step's micro-batches, runs them forward and backward, clips, and updates the weights. None, without
  /// effect on the weights, when the data of any rank cannot fill another step. Guards may run the step twice, leave
  /// its update out (it counts, for the schedule too), or end the run. NonFiniteError names step and cause and
  /// leaves the weights as they were; so do DataError (no valid label in the step), Interrupted, and errors of model,
  /// strategies and data. Several ranks step together, agree on what ends the
  /// run before they begin and again before the update, and end with the same of these errors; whatever else one rank
  /// throws, the others learn of through Ranks::fail().
  std::optional<StepResult> step();

  std::int64_t steps_done() const { return steps_done_; }
  /// Tokens of the run so far, of all ranks, padding included.
  std::int64_t total_tokens() const { return total_tokens_; }
  /// Steps that the learning-rate schedule has seen.
  std::int64_t schedule_step() const { return steps_done_ - schedule_begin_; }
  /// Where the data stands after the last finished step; asked after a step that did not come to its end too.
  std::string data_state() const { return step_begin_ ? *step_begin_ : source_.state(); }
  const optim::AdamOptimizer& optimizer() const { return optimizer_; }
  optim::AdamOptimizer& optimizer() { return optimizer_; }
  /// Goes on after `steps_done` steps, of which the schedule has seen `schedule_step`. Before the first step.
  void go_on_from(std::int64_t steps_done, std::int64_t schedule_step, std::int64_t total_tokens);
  nn::Tree& tree() { return tree_; }

 private:
  /// What this rank made of a step.
  struct Made {
    Passes& passes;
    StepResult& result;
    double loss_sum;  // of this rank
  };
  std::vector<data::Batch> fetch();
  bool agree_to_begin(const std::vector<data::Batch>& batches, StepResult& result);
  PassParts pass_parts();
  StepNumbers agree_on_outcome(const Made& made);
  /// Whether the step's update is to be made. Throws where a guard, or a number that is not finite, stops the run.
  bool accept(Made& made);
  [[noreturn]] void stop(const Judgement& judgement, const StepResult& result);
  void require_finite(const Made& made) const;
  void update(StepResult& result);
  int stop_requested() const;
  void check_stop() const;
  bool alone() const { return is_alone(options_.ranks); }
  void part() const;

  nn::Tree& tree_;
  BatchSource& source_;
  optim::AdamOptimizer optimizer_;
  optim::LrSchedule schedule_;
  Options options_;
  const StopFlag* stop_;
  std::int64_t steps_done_ = 0;
  std::int64_t first_step_ = 1;      // of this process
  std::int64_t schedule_begin_ = 0;  // steps done when the schedule began
  std::int64_t total_tokens_ = 0;
  std::optional<std::string> step_begin_;  // where the data stood when the step began that is under way
  bool said_past_end_ = false;
  bool said_no_drift_ = false;
};

}  // namespace titan::train
