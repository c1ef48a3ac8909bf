#include "plugins/qwen3/model.hpp"

#include <string>

#include "plugins/qwen3/inits.hpp"
#include "titan/sdk/feed_forward.hpp"

namespace titan::qwen3 {
namespace {

using sdk::ChainInputs;
using sdk::Split;

std::optional<Leaf> head_norm(Scope& s, const char* name, const ModelArgs& a) {
  if (!a.qk_norm) return std::nullopt;
  return s.rms_norm(name, a.head_dim, a.norm_eps, Split::heads);
}

Leaf feed_forward(Scope& s, const ModelArgs& a, std::int64_t layer) {
  if (a.is_mixture()) return s.child<MixtureOfExperts>("moe", a, layer);
  return s.child<sdk::FeedForward>("feed_forward", a.dim, a.hidden_dim, feed_forward_inits(a, layer));
}

}  // namespace

Attention::Attention(Scope& s, const ModelArgs& a, std::int64_t layer)
    : wq_(s.linear("wq", a.dim, a.num_heads * a.head_dim, Split::column, Init::trunc_normal(kStd))),
      wk_(s.linear("wk", a.dim, a.num_kv_heads * a.head_dim, Split::column, Init::trunc_normal(kStd))),
      wv_(s.linear("wv", a.dim, a.num_kv_heads * a.head_dim, Split::column, Init::trunc_normal(kStd))),
      wo_(s.linear("wo", a.num_heads * a.head_dim, a.dim, Split::row, residual_init(a, layer))),
      q_norm_(head_norm(s, "q_norm", a)),
      k_norm_(head_norm(s, "k_norm", a)),
      rope_(s.rope("rope", a.rope)),
      sdpa_(s.attention("sdpa", {.mask = a.attn_mask_type, .scale = {}})),
      head_dim_(a.head_dim) {}

Tensor Attention::forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const {
  // -1: the number of heads on this rank comes from the weight.
  const auto heads = [&](Leaf w) { return f(w, x_BLD).unflatten(-1, {-1, head_dim_}); };
  const auto normed = [&](Leaf w, const std::optional<Leaf>& norm) { return norm ? f(*norm, heads(w)) : heads(w); };
  // One after the other, since C++ leaves the order of a call's arguments open; and let go once they are rotated.
  const auto rotated = [&] {
    const Tensor q_BLNH = normed(wq_, q_norm_), k_BLKH = normed(wk_, k_norm_);
    return f(rope_, q_BLNH, k_BLKH, positions_BL);
  };
  const auto [q_BLNH, k_BLKH] = rotated();
  const Tensor out_BLNH = f(sdpa_, q_BLNH, k_BLKH, heads(wv_), positions_BL);
  return f(wo_, out_BLNH.flatten(-2));
}

TransformerBlock::TransformerBlock(Scope& s, const ModelArgs& a, std::int64_t layer)
    : attention_(s.child<Attention>("attention", a, layer)),
      ffn_(feed_forward(s, a, layer)),
      attention_norm_(s.rms_norm("attention_norm", a.dim, a.norm_eps)),
      ffn_norm_(s.residual_rms_norm("ffn_norm", a.dim, a.norm_eps)) {}

Tensor TransformerBlock::forward(Frame& f, const Tensor& x_BLD, const Tensor& positions_BL) const {
  // h = x + attention, and its norm
  const auto [normed_BLD, h_BLD] = f(ffn_norm_, x_BLD, f(attention_, f(attention_norm_, x_BLD), positions_BL));
  return h_BLD + f(ffn_, normed_BLD);
}

void build_transformer(Scope& root, const ModelArgs& a) {
  // A tied weight starts as an output layer does: as an embedding it may be small, as a projection not large.
  const Init embedding_init = a.is_tied ? sdk::output_init(a.dim) : Init::normal(1);
  const Leaf embedding = root.embedding("tok_embeddings", a.vocab_size, a.dim, embedding_init);
  root.chain(embedding);
  for (std::int64_t layer = 0; layer < a.num_layers; ++layer)
    root.chain(root.child<TransformerBlock>("layers." + std::to_string(layer), a, layer), ChainInputs::positions);
  root.chain(root.rms_norm("norm", a.dim, a.norm_eps));
  root.chain(a.is_tied ? root.tied_linear("output", embedding)
                       : root.linear("output", a.dim, a.vocab_size, Split::vocab, sdk::output_init(a.dim)));
  root.loss(root.cross_entropy("loss"));
}

}  // namespace titan::qwen3
