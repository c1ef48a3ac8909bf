#pragma once

#include <cstdint>
#include <memory>

#include "core/base/stop.hpp"
#include "core/nn/tree.hpp"
#include "core/train/batch_source.hpp"

namespace titan::train {

/// What one validation pass measured.
struct ValidationResult {
  double loss = 0;              // sum of cross-entropies / valid tokens, over the whole pass
  std::int64_t num_tokens = 0;  // valid ones
  double seconds = 0;
};

/// Measures the loss on the same batches at each pass, without gradients. One thread at a time.
class Validator {
 public:
  struct Options {
    std::int64_t freq = 10;         // steps between passes
    std::int64_t num_batches = -1;  // of a pass, at most; -1: until the source ends
  };
  /// The tree and the flag (may be null) must outlive the validator.
  Validator(nn::Tree& tree, std::unique_ptr<BatchSource> source, const Options& options,
            const StopFlag* stop = nullptr);

  /// Whether a pass follows that training step: the first and every freq-th.
  bool is_due(std::int64_t step) const { return step == 1 || step % options_.freq == 0; }

  /// Runs one pass. DataError: no valid label in all of it. NonFiniteError: the loss is not finite.
  ValidationResult run();

 private:
  double batch_loss(data::Batch& batch);

  nn::Tree& tree_;
  std::unique_ptr<BatchSource> source_;
  Options options_;
  const StopFlag* stop_;
};

}  // namespace titan::train
