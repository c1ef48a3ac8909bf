#include "model.hpp"

#include <string>

namespace minigpt {
namespace {

using titan::sdk::ChainInputs;
using titan::sdk::Init;
using titan::sdk::RopeArgs;
using titan::sdk::Split;

constexpr double kEps = 1e-5;
constexpr Init kInit = Init::trunc_normal(0.02);

}  // namespace

Attention::Attention(Scope& s, const ModelArgs& a)
    : wq_(s.linear("wq", a.dim, a.dim, Split::column, kInit)),
      wk_(s.linear("wk", a.dim, a.dim, Split::column, kInit)),
      wv_(s.linear("wv", a.dim, a.dim, Split::column, kInit)),
      wo_(s.linear("wo", a.dim, a.dim, Split::row, kInit)),
      rope_(s.rope("rope", RopeArgs{})),
      sdpa_(s.attention("sdpa", {.mask = "causal", .scale = {}})),
      head_dim_(a.head_dim()) {}

Tensor Attention::forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const {
  // -1: how many heads are on this rank follows from the weight. A model never asks how it is split.
  const auto heads = [&](Leaf w) { return f(w, x_BLD).unflatten(-1, {-1, head_dim_}); };
  // One after the other, since C++ leaves the order of a call's arguments open; and let go once they are rotated.
  const auto rotated = [&] {
    const Tensor q_BLNH = heads(wq_), k_BLNH = heads(wk_);
    return f(rope_, q_BLNH, k_BLNH, positions_BL);
  };
  const auto [q_BLNH, k_BLNH] = rotated();
  const Tensor out_BLNH = f(sdpa_, q_BLNH, k_BLNH, heads(wv_), positions_BL);
  return f(wo_, out_BLNH.flatten(-2));
}

FeedForward::FeedForward(Scope& s, const ModelArgs& a)
    : up_(s.linear("up", a.dim, a.hidden_dim(), Split::column, kInit)),
      down_(s.linear("down", a.hidden_dim(), a.dim, Split::row, kInit)),
      gelu_(s.op("aten::gelu")) {}

Tensor FeedForward::forward(Frame& f, const Tensor& x_BLD) const {
  const Tensor h_BLF = gelu_(f(up_, x_BLD));
  return f(down_, h_BLF);
}

Block::Block(Scope& s, const ModelArgs& a)
    : attention_(s.child<Attention>("attention", a)),
      feed_forward_(s.child<FeedForward>("feed_forward", a)),
      attention_norm_(s.rms_norm("attention_norm", a.dim, kEps)),
      ffn_norm_(s.residual_rms_norm("ffn_norm", a.dim, kEps)) {}

Tensor Block::forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const {
  // h = x + attention, and its norm
  const auto [normed_BLD, h_BLD] = f(ffn_norm_, x_BLD, f(attention_, f(attention_norm_, x_BLD), positions_BL));
  return h_BLD + f(feed_forward_, normed_BLD);
}

void build_model(Scope& root, const ModelArgs& a) {
  root.chain(root.embedding("tok_embeddings", a.vocab_size, a.dim, kInit));
  for (std::int64_t layer = 0; layer < a.num_layers; ++layer) {
    root.chain(root.child<Block>("layers." + std::to_string(layer), a), ChainInputs::positions);
  }
  root.chain(root.rms_norm("norm", a.dim, kEps));
  root.chain(root.linear("output", a.dim, a.vocab_size, Split::vocab, kInit));
  root.loss(root.cross_entropy("loss"));
}

}  // namespace minigpt
