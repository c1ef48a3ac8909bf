#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "core/comm/communicator.hpp"
#include "core/nn/tree.hpp"
#include "plugins/parallel/data_parallel/data_parallel.hpp"
#include "plugins/parallel/tensor_parallel/tensor_parallel.hpp"
#include "tests/unit/parallel/tensor_parallel/rank_views.hpp"

namespace titan::parallel {

/// Sizes of the test model: 12 heads of 2 features, and a sequence, that 2, 3, 4 and 6 ranks divide.
inline constexpr std::int64_t kDim = 6, kHeads = 12, kHeadDim = 2, kWidth = kHeads * kHeadDim, kLength = 12;
inline constexpr int kLayers = 2;

struct SplitOptions {
  nn::Precision precision{at::kDouble, at::kDouble, at::kDouble};
  bool splits_sequence = true;
  std::int64_t vocab = 11;
  std::int64_t width = kWidth;
  std::int32_t embedding_split = TITAN_SPLIT_VOCAB, output_split = TITAN_SPLIT_VOCAB;
  bool output_in_loss = false;                     // the last linear stands beside the chain, inside the loss module
  bool has_own_loss = false;                       // the loss is no titan.cross_entropy
  std::int32_t norm_split = TITAN_SPLIT_SEQUENCE;  // of layers.*.norm
  bool parallel = true;                            // false: no strategy at all
};

/// One rank's copy of a small model: tok_embeddings, layers.N (x + down(tanh(head_norm(q(x)) * k(x))), both behind
/// norm), norm, output, loss. TensorParallel splits it, then DataParallel. The rows of a batch go to the data ranks in
/// turn.
class SplitModel {
 public:
  SplitModel(comm::Communicator& communicator, const SplitOptions& options);

  nn::Tree& tree() { return tree_; }
  TensorParallel* strategy() { return tensor_.get(); }
  comm::Communicator& communicator() { return communicator_; }

  /// Runs micro-batches of this rank's rows of [R, kLength] each; gradients are divided by the number of all rows. The
  /// last thing is step_end(), unless `ends` is false.
  double step(const std::vector<at::Tensor>& micro_batches, bool ends = true);
  /// The summed loss of this rank's rows; records gradients.
  at::Tensor loss(const at::Tensor& rows);

 private:
  void build(const SplitOptions& options);
  nn::ModuleId leaf(nn::ModuleId parent, const char* name, const char* kind, const std::vector<std::int64_t>& shape,
                    std::int32_t split);
  nn::ModuleId block(int layer, const SplitOptions& options);
  nn::ModuleId loss_module(const SplitOptions& options);
  at::Tensor mine(const at::Tensor& rows) const;

  comm::Communicator& communicator_;
  nn::Tree tree_;
  RankViews views_;
  std::shared_ptr<TensorParallel> tensor_;
  std::weak_ptr<DataParallel> data_;
  std::int64_t vocab_;
};

/// Rows of token ids below `vocab`, the same on every rank.
at::Tensor token_rows(std::int64_t num_rows, std::int64_t vocab, std::int64_t seed);

}  // namespace titan::parallel
