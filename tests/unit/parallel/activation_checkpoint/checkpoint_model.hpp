#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/tree.hpp"
#include "core/plugin/host_table.hpp"
#include "plugins/parallel/activation_checkpoint/checkpointed_block.hpp"

namespace titan::parallel {

/// What of a model is recomputed.
enum class Mode { none, selective, full };

struct CheckpointModelOptions {
  at::ScalarType dtype = at::kDouble;
  std::int64_t dim = 16, hidden = 24, heads = 4, layers = 3;
  Mode mode = Mode::none;
  CheckpointOptions checkpoint;  // whether results are kept is up to the mode
  /// Inside every layer, of the product of w1: [B, L, hidden] -> the same.
  std::function<at::Tensor(const at::Tensor&)> inside = nullptr;
};

/// A small transformer: tok_embeddings; layers.i with wq, wk, wv, sdpa, wo, w1, w3, swiglu and w2, seven products a
/// layer; output; loss.
class CheckpointModel {
 public:
  explicit CheckpointModel(const CheckpointModelOptions& options);

  nn::Tree& tree() { return tree_; }
  /// The summed loss of rows [R, L] of token ids below kVocab, each to be followed by the next.
  at::Tensor loss(const at::Tensor& rows);
  /// Loss and gradients of one backward over the rows, by parameter; clears them.
  std::map<std::string, at::Tensor> gradients(const at::Tensor& rows);

  static constexpr std::int64_t kVocab = 11;

 private:
  struct Layer;
  nn::ModuleId leaf(nn::ModuleId parent, const char* name, const char* kind, const std::vector<std::int64_t>& shape);
  nn::ModuleId layer(std::int64_t number);
  static titan_error* run_layer(void* self, titan_frame* frame, const titan_tensor* in, std::uint32_t num_in,
                                titan_tensor* out, std::uint32_t num_out);
  void build();
  void attach_checkpoints();

  CheckpointModelOptions options_;
  plugin::HostTable host_;
  nn::Tree tree_;
};

/// Rows of token ids, always the same.
at::Tensor token_rows(std::int64_t num_rows, std::int64_t length);

}  // namespace titan::parallel
