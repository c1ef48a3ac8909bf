#pragma once

#include "args.hpp"
#include "titan/sdk/scope.hpp"

namespace minigpt {

using titan::sdk::Frame;
using titan::sdk::Leaf;
using titan::sdk::Module;
using titan::sdk::Op;
using titan::sdk::ResidualNormLeaf;
using titan::sdk::RopeLeaf;
using titan::sdk::Scope;
using titan::sdk::Tensor;

// Shapes: B batch, L sequence, D model, N heads (on this rank), H head dim, F width of the feed-forward network.

/// Causal self-attention with rotary positions.
class Attention : public Module {
 public:
  Attention(Scope& s, const ModelArgs& a);
  Tensor forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const;

 private:
  Leaf wq_, wk_, wv_, wo_;
  RopeLeaf rope_;
  Leaf sdpa_;
  std::int64_t head_dim_;
};

/// Two linear layers around a GELU, which is an operator of libtorch found by name.
class FeedForward : public Module {
 public:
  FeedForward(Scope& s, const ModelArgs& a);
  Tensor forward(Frame& f, const Tensor& x_BLD) const;

 private:
  Leaf up_, down_;
  Op gelu_;
};

/// Attention and feed-forward network, each behind its norm and around the residual stream.
class Block : public Module {
 public:
  Block(Scope& s, const ModelArgs& a);
  Tensor forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const;

 private:
  Leaf attention_, feed_forward_, attention_norm_;
  ResidualNormLeaf ffn_norm_;
};

/// Declares the whole model: embedding, blocks, norm and output layer as the chain, and the loss.
void build_model(Scope& root, const ModelArgs& a);

}  // namespace minigpt
