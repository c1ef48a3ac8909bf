#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/comm/group.hpp"
#include "core/nn/tree.hpp"
#include "core/schedule/table.hpp"
#include "core/train/micro_batch.hpp"
#include "core/train/pipeline/transfers.hpp"
#include "core/train/ranks/strategies.hpp"

namespace titan::train {

/// The tables of a run: of training and of validation, with the same stages. Both are sound (schedule::lint).
struct PipelineTables {
  schedule::Table training, evaluation;
};

/// The micro-batches that go through the pipeline together: as many as the tables have. Tensors are this rank's part.
struct PipelineGroup {
  std::vector<MicroBatch> micro_batches;
  std::int64_t first = 0;       // index of the first one in the step or pass
  bool is_last = true;          // of the step
  double gradient_of_loss = 1;  // what backward begins with
};

/// Where the seconds of a group went, waiting included.
struct PipelineSeconds {
  double forward = 0, backward = 0;
};

/// Runs one rank's part of a pipeline's tables: the only way in which stages run, whatever the schedule. Used on the
/// training thread.
class Pipeline {
 public:
  /// What it is given must outlive it; `ranks` is the group "pp"; strategies may be null.
  Pipeline(nn::Tree& tree, comm::Group& ranks, PipelineTables tables, Strategies* strategies);

  std::size_t num_micro_batches() const { return tables_.training.num_micro_batches; }

  /// Runs forward and backward of a group and collects the gradients. Returns the sum of its losses on the rank with
  /// the last stage, 0 on the others. After an error the pipeline must not be used any more.
  double train(const PipelineGroup& group, PipelineSeconds& seconds);
  /// Runs forward alone, without recording, and returns the same.
  double evaluate(const PipelineGroup& group);

  /// The most stage inputs that have waited for their backward at a time, so far.
  std::size_t peak_live() const { return peak_live_; }

 private:
  class Pass;
  double run(const schedule::Table& table, const PipelineGroup& group, PipelineSeconds& seconds);

  nn::Tree& tree_;
  std::size_t rank_;
  PipelineTables tables_;
  Strategies* strategies_;
  Transfers transfers_;
  std::size_t peak_live_ = 0;
};

}  // namespace titan::train
