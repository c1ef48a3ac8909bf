#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/stop.hpp"
#include "core/nn/tree.hpp"
#include "core/train/batch_source.hpp"
#include "core/train/pipeline/pipeline.hpp"
#include "core/train/ranks/agreement.hpp"
#include "core/train/ranks/strategies.hpp"

namespace titan::train {

/// What one validation pass measured.
struct ValidationResult {
  double loss = 0;              // sum of cross-entropies / valid tokens, over the whole pass, of all ranks
  std::int64_t num_tokens = 0;  // valid ones, of all ranks
  double seconds = 0;
};

/// Measures the loss on the same batches at each pass, without gradients; in a pipeline as many go through together as
/// in training. Several ranks go through their batches together: a rank that has no more runs batches without valid
/// labels until the last one ends. One thread at a time.
class Validator {
 public:
  struct Options {
    std::int64_t freq = 10;         // steps between passes
    std::int64_t num_batches = -1;  // of a pass and rank, at most; -1: until the source ends
    std::int64_t rows = 1;          // of a batch, as the source gives them
    std::int64_t length = 1;
    Ranks* ranks = nullptr;            // null: one
    Strategies* strategies = nullptr;  // null: none
    Pipeline* pipeline = nullptr;      // null: this rank runs the whole chain
  };
  /// The tree, the flag (may be null) and what the options name must outlive the validator.
  Validator(nn::Tree& tree, std::unique_ptr<BatchSource> source, const Options& options,
            const StopFlag* stop = nullptr);

  /// Whether a pass follows that training step: the first and every freq-th.
  bool is_due(std::int64_t step) const { return step == 1 || step % options_.freq == 0; }

  /// Runs one pass. DataError: no valid label in all of it. NonFiniteError: the loss is not finite. Interrupted: a stop
  /// was requested. Several ranks end with the same of these.
  ValidationResult run();

 private:
  std::int64_t group_size() const;
  std::vector<data::Batch> fetch(std::int64_t first, bool& has_more);
  Outlook agree_on(const std::vector<data::Batch>& batches) const;
  double loss_of(std::vector<data::Batch>& batches, std::int64_t first);
  double batch_loss(data::Batch& batch, std::int64_t index);
  void part() const;

  nn::Tree& tree_;
  std::unique_ptr<BatchSource> source_;
  Options options_;
  const StopFlag* stop_;
};

}  // namespace titan::train
