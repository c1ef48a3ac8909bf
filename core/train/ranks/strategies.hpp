#pragma once

#include <cstdint>
#include <vector>

#include "core/comm/communicator.hpp"
#include "core/config/engine.hpp"
#include "core/nn/tree.hpp"
#include "core/train/micro_batch.hpp"

namespace titan::train {

/// Which micro-batch runs through which stage.
struct MicroBatchEvent {
  std::int64_t index = 0;  // in the step
  bool is_last = true;     // of the step, through this stage
  bool training = true;
  std::uint32_t stage = 0;  // by its index in the model
};

/// The parallelism strategies of a run, called in order of priority, outermost first. An error of one stops the run: it
/// is thrown as the titan::Error of its code, naming plugin and callback. Used by the training thread.
class Strategies {
 public:
  Strategies() = default;
  Strategies(const titan_host* host, std::vector<PluginInterface<titan_strategy_v1>> strategies);

  /// Asks each whether it can serve the layout. ConfigError too when there are several ranks and no strategy.
  void validate(const config::Mesh& mesh, const titan_model_facts& facts) const;
  /// Lets each place the parameters of the tree, and tells the order in the log.
  void apply(nn::Tree& tree, comm::Communicator& ranks);
  void materialised();
  /// This rank's part of a micro-batch: its own columns where the sequence is split.
  MicroBatch split_batch(const MicroBatch& batch) const;
  void micro_batch_begin(const MicroBatchEvent& event);
  void backward_begin(const MicroBatchEvent& event);
  void micro_batch_end(const MicroBatchEvent& event);
  void step_end();
  void updated();
  /// Lets each forget the step's gradients so far. ConfigError names one that hears of updates and does not know how.
  void discard();

 private:
  template <class Callback, class... Arguments>
  void call(const char* name, Callback titan_strategy_v1::*callback, Arguments... arguments) const;

  const titan_host* host_ = nullptr;
  std::vector<PluginInterface<titan_strategy_v1>> strategies_;
};

/// Views of a batch as tensors, of this rank's part where strategies (null: none) split it. Valid while the batch
/// lives.
MicroBatch own_part(data::Batch& batch, const Strategies* strategies, at::Device device);

}  // namespace titan::train
