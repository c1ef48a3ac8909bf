#pragma once

#include <string>

#include "plugins/parallel/activation_checkpoint/recording.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::parallel {

/// How blocks are recomputed.
struct CheckpointOptions {
  RecordingRules recording;
  bool preserve_rng_state = true;  // a recomputation draws the random numbers of its forward
};

/// The interceptor of one block of the chain. Its forward keeps the inputs and what the rules name, and its backward
/// runs the rest of the call once more. Copied by attach(); training thread.
class CheckpointedBlock {
 public:
  CheckpointedBlock(const sdk::Host& host, const strategy::Tree& tree, const strategy::Module& block,
                    const CheckpointOptions& options)
      : host_(host), tree_(tree), name_(block.name()), options_(options) {}

  /// Runs without any of this where nothing is recorded for a backward.
  strategy::Tensors operator()(strategy::Frame& frame, strategy::Next next, strategy::Inputs in) const;

 private:
  sdk::Host host_;
  strategy::Tree tree_;
  std::string name_;
  CheckpointOptions options_;
};

}  // namespace titan::parallel
