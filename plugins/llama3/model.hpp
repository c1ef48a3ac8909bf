#pragma once

#include <cstdint>

#include "plugins/llama3/args.hpp"
#include "titan/sdk/scope.hpp"

namespace titan::llama3 {

using sdk::Frame;
using sdk::Leaf;
using sdk::Module;
using sdk::ResidualNormLeaf;
using sdk::RopeLeaf;
using sdk::Scope;
using sdk::Tensor;

// Shapes: B batch, L sequence (local), D model, N query heads (local), K key and value heads (local), H head dim.

/// Grouped-query attention with rotary positions.
class Attention : public Module {
 public:
  Attention(Scope& s, const ModelArgs& a, std::int64_t layer);
  Tensor forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const;

 private:
  Leaf wq_, wk_, wv_, wo_;
  RopeLeaf rope_;
  Leaf sdpa_;
  std::int64_t head_dim_;
};

/// Attention and feed-forward network, each behind its norm and around the residual stream.
class TransformerBlock : public Module {
 public:
  TransformerBlock(Scope& s, const ModelArgs& a, std::int64_t layer);
  Tensor forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const;

 private:
  Leaf attention_, feed_forward_, attention_norm_;
  ResidualNormLeaf ffn_norm_;
};

/// Declares the whole model: tok_embeddings, layers.0 .., norm, output as the chain, and the loss.
void build_transformer(Scope& root, const ModelArgs& a);

}  // namespace titan::llama3
