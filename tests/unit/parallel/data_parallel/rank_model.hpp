#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "core/optim/adamw.hpp"
#include "core/plugin/host_table.hpp"
#include "plugins/parallel/data_parallel/data_parallel.hpp"

namespace titan::parallel {

inline constexpr std::int64_t kVocab = 11, kLength = 3;

/// Sizes of the test model: odd on purpose, so that shards are uneven and, over 4 ranks, empty.
struct ModelSizes {
  std::int64_t dim = 6, hidden = 7;
  int layers = 2;
  /// tok_embeddings, the layers, norm, output.
  int units() const { return layers + 3; }
};

struct ModelOptions {
  nn::Precision precision{at::kDouble, at::kDouble, at::kDouble};
  Options strategy;
  ModelSizes sizes;
  bool parallel = true;         // false: no strategy at all
  bool tied = false;            // output has the weight of tok_embeddings
  bool output_in_loss = false;  // the last linear stands beside the chain, inside the loss module
};

/// One rank's copy of a small model: tok_embeddings, layers.0, layers.1 (x + down(up(x))), norm, output, loss. The rows
/// of a global batch go to the data ranks in turn.
class RankModel {
 public:
  RankModel(comm::Communicator& communicator, const ModelOptions& options);

  nn::Tree& tree() { return tree_; }
  DataParallel* strategy() { return strategy_.lock().get(); }
  comm::Communicator& communicator() { return communicator_; }

  /// Runs one micro-batch of this rank's rows of `rows` [R, kLength]; gradients are divided by the number of all rows.
  void micro_batch(const at::Tensor& rows, std::uint32_t index, bool is_last);
  /// The same without gradients; returns the loss.
  double validate(const at::Tensor& rows);
  /// A step over several micro-batches; gradients stay until update() or clear().
  void step(const std::vector<at::Tensor>& micro_batches);
  /// The same with all forwards before the first backward, as in a pipeline.
  void step_in_flight(const std::vector<at::Tensor>& micro_batches);
  /// AdamW on what the step left.
  void update();
  void clear();
  /// The summed loss of this rank's rows; records gradients.
  at::Tensor loss(const at::Tensor& rows);

  /// Bytes that the compute forms take right now, beyond the parameters themselves.
  std::size_t gathered_bytes() const;

  // What the next passes do.
  int skip_down_of_layer = -1;         // leaves a parameter without a gradient
  int pass_through_layer = -1;         // gives its input back, the same handle
  int fail_in_layer = -1;              // throws in forward
  int fail_in_backward_of_layer = -1;  // throws in backward

 private:
  void build(const ModelOptions& options);
  void backward(const at::Tensor& loss, std::int64_t num_rows);
  nn::ModuleId leaf(nn::ModuleId parent, const char* name, const char* kind, const std::vector<std::int64_t>& shape);
  nn::ModuleId loss_with_output();
  nn::ModuleId block(int layer);
  at::Tensor mine(const at::Tensor& rows) const;

  comm::Communicator& communicator_;
  ModelSizes sizes_;
  plugin::HostTable host_;
  nn::Tree tree_;
  std::weak_ptr<DataParallel> strategy_;
  std::optional<optim::AdamOptimizer> optimizer_;
};

/// Rows of token ids, the same on every rank.
at::Tensor token_rows(std::int64_t num_rows, std::int64_t seed);

}  // namespace titan::parallel
