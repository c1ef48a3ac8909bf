#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/stop.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"
#include "core/optim/lr_schedule.hpp"
#include "core/train/anomaly.hpp"
#include "core/train/batch_source.hpp"

namespace titan::train {

/// Where the seconds of a step went.
struct StepSeconds {
  double data = 0;  // waiting for batches
  double forward = 0;
  double backward = 0;   // collecting the gradients included
  double optimizer = 0;  // norm, clipping and refreshing the compute form included
};

/// What one step did.
struct StepResult {
  std::int64_t step = 0;  // 1-based
  double loss = 0;        // sum of cross-entropies / valid tokens, before the update
  double grad_norm = 0;   // before clipping
  double lr = 0;          // of the first parameter group
  std::int64_t num_tokens = 0;
  std::int64_t num_valid = 0;
  StepSeconds seconds;
};

/// Trains a materialised tree, one optimizer step at a call. One thread at a time.
class Trainer {
 public:
  struct Options {
    std::int64_t num_micro_batches = 1;  // of a step; their gradients are summed
    double max_norm = 1.0;
    const AnomalyWatch* anomalies = nullptr;  // of the tree; null: none
  };

  /// Tree, source, watch and flag (may be null) must outlive the trainer; the optimizer is over the tree's parameters.
  Trainer(nn::Tree& tree, BatchSource& source, optim::AdamOptimizer optimizer, optim::LrSchedule schedule,
          const Options& options, const StopFlag* stop = nullptr);

  /// Fetches the step's micro-batches, runs them forward and backward, clips, and updates the weights. None, without
  /// effect on the weights, when the data cannot fill another step. NonFiniteError names step and cause and leaves the
  /// weights as they were; so do DataError (no valid label in the step), Interrupted, and errors of model and data.
  std::optional<StepResult> step();

  std::int64_t steps_done() const { return steps_done_; }
  const optim::AdamOptimizer& optimizer() const { return optimizer_; }
  nn::Tree& tree() { return tree_; }

 private:
  std::vector<data::Batch> fetch();
  void run_micro_batches(std::vector<data::Batch>& batches, StepResult& result);
  at::Tensor forward(data::Batch& batch);
  void backward(const at::Tensor& loss, std::int64_t num_valid);
  void update(StepResult& result);
  void check_stop() const;

  nn::Tree& tree_;
  BatchSource& source_;
  optim::AdamOptimizer optimizer_;
  optim::LrSchedule schedule_;
  Options options_;
  const StopFlag* stop_;
  std::int64_t steps_done_ = 0;
  bool said_past_end_ = false;
};

}  // namespace titan::train
