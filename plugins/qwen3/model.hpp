#pragma once

#include <cstdint>
#include <optional>

#include "plugins/qwen3/args.hpp"
#include "plugins/qwen3/mixture.hpp"
#include "titan/sdk/scope.hpp"

namespace titan::qwen3 {

using sdk::ResidualNormLeaf;
using sdk::RopeLeaf;

// Shapes: B batch, L sequence (local), D model, N query heads (local), K key and value heads (local), H head dim.

/// Grouped-query attention with rotary positions and norms of queries and keys.
class Attention : public Module {
 public:
  Attention(Scope& s, const ModelArgs& a, std::int64_t layer);
  Tensor forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const;

 private:
  Leaf wq_, wk_, wv_, wo_;
  std::optional<Leaf> q_norm_, k_norm_;
  RopeLeaf rope_;
  Leaf sdpa_;
  std::int64_t head_dim_;
};

/// Attention, and a feed-forward network or a mixture of experts, each behind its norm and around the residual stream.
class TransformerBlock : public Module {
 public:
  TransformerBlock(Scope& s, const ModelArgs& a, std::int64_t layer);
  Tensor forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const;

 private:
  Leaf attention_, ffn_, attention_norm_;
  ResidualNormLeaf ffn_norm_;
};

/// Declares the whole model: tok_embeddings, layers.0 .., norm, output as the chain, and the loss.
void build_transformer(Scope& root, const ModelArgs& a);

}  // namespace titan::qwen3
