#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/data/loader.hpp"
#include "core/nn/tree.hpp"
#include "core/train/guards.hpp"
#include "core/train/pipeline/pipeline.hpp"
#include "core/train/ranks/strategies.hpp"
#include "core/train/step_begin.hpp"

namespace titan::train {

/// Where the seconds of a step went.
struct StepSeconds {
  double data = 0;  // waiting for batches
  double forward = 0;
  double backward = 0;   // collecting the gradients included
  double optimizer = 0;  // norm, clipping and refreshing the compute form included
};

/// What a step's passes run on; all of it outlives them.
struct PassParts {
  nn::Tree& tree;
  Strategies* strategies = nullptr;            // null: none
  Pipeline* pipeline = nullptr;                // null: this rank runs the whole chain
  Guards* guards = nullptr;                    // null: none
  std::function<void()> check_stop = nullptr;  // before each pass; may throw. Null: no stop inside of a step
};

/// The forward and backward of one step. It consists of passes, around each of which guards may stand: of one
/// micro-batch each, or of one group of them through a pipeline.
class Passes {
 public:
  /// Batches and seconds, which are added to, must outlive the object. `num_valid`: labels of the step, on all ranks.
  Passes(const PassParts& parts, std::vector<data::Batch>& batches, std::int64_t step, std::int64_t num_valid,
         StepSeconds& seconds);

  /// Runs the step from its begin, reductions included. Returns the sum of the losses of this rank's valid labels.
  double run();
  /// Forgets the gradients and runs all of it once more, from the random state and buffers the step began with, without
  /// guards around the passes. For runs with a guard that may ask for it.
  double run_again();
  /// What that took so far, which counts as nobody's time.
  double again_seconds() const { return again_seconds_; }
  /// Forgets the gradients, and what the step left in the buffers: there will be no update.
  void leave_out();

 private:
  class Guarded;
  bool may_run_again() const;
  std::size_t pass_size() const;
  double run_all(bool is_guarded);
  double run_pass(std::size_t first);
  double run_micro_batch(std::size_t index);
  double run_group(std::size_t first);
  double gradient_of_loss() const;
  void backward(const at::Tensor& loss);
  void discard();
  void restart();

  PassParts parts_;
  std::vector<data::Batch>& batches_;
  std::int64_t step_, num_valid_;
  StepSeconds& seconds_;
  double again_seconds_ = 0;
  std::optional<StepBegin> begin_;
};

}  // namespace titan::train
