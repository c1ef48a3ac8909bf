#include "plugins/qwen3/mixture.hpp"

#include <array>

#include "plugins/qwen3/inits.hpp"

namespace titan::qwen3 {
namespace {

std::optional<Leaf> shared_experts(Scope& s, const ModelArgs& a, std::int64_t layer) {
  if (a.moe.num_shared_experts == 0) return std::nullopt;
  return s.child<sdk::FeedForward>("shared_experts", a.dim, a.moe.hidden_dim * a.moe.num_shared_experts,
                                   feed_forward_inits(a, layer));
}

}  // namespace

MixtureOfExperts::MixtureOfExperts(Scope& s, const ModelArgs& a, std::int64_t layer)
    : router_(s.router("router.gate", a.dim, a.moe.router(), residual_init(a, layer))),
      experts_(s.grouped_experts("experts", a.moe.num_experts, a.dim, a.moe.hidden_dim,
                                 {Init::trunc_normal(kStd), residual_init(a, layer), residual_init(a, layer)})),
      shared_experts_(shared_experts(s, a, layer)),
      argsort_(s.op("aten::argsort", "stable")),
      floor_divide_(s.op("aten::floor_divide", "Scalar")),
      index_select_(s.op("aten::index_select")),
      bmm_(s.op("aten::bmm")),
      sum_(s.op("aten::sum", "dim_IntList")),
      to_(s.op("aten::to", "dtype")),
      top_k_(a.moe.top_k),
      score_before_experts_(a.moe.score_before_experts) {}

Tensor MixtureOfExperts::forward(Frame& f, const Tensor& x_BLD) const {
  const auto [scores_TK, experts_TK, counts_E] = f(router_, x_BLD);
  // Row m is for place order[m] of [T, K]. Stable: an expert has its tokens in their order.
  const Tensor order_M = argsort_(experts_TK.flatten(0), true);
  Tensor rows_MD = index_select_(x_BLD.flatten(0, 1), 0, floor_divide_(order_M, top_k_));
  if (score_before_experts_) rows_MD = weighed_input(rows_MD, scores_TK, order_M);
  const Tensor out_MD = f(experts_, rows_MD, counts_E);
  const Tensor out_TKD = index_select_(out_MD, 0, argsort_(order_M, true)).unflatten(0, {-1, top_k_});
  const Tensor out_BLD = combined(out_TKD, scores_TK).unflatten(0, {x_BLD.size(0), -1});
  return shared_experts_ ? out_BLD + f(*shared_experts_, x_BLD) : out_BLD;
}

Tensor MixtureOfExperts::weighed_input(const Tensor& rows_MD, const Tensor& scores_TK, const Tensor& order_M) const {
  const Tensor scores_M1 = index_select_(scores_TK.flatten(0), 0, order_M).unflatten(0, {-1, 1});
  return to_(rows_MD * scores_M1, rows_MD.dtype());
}

Tensor MixtureOfExperts::combined(const Tensor& out_TKD, const Tensor& scores_TK) const {
  if (score_before_experts_) return sum_(out_TKD, sdk::Ints(std::array<std::int64_t, 1>{1}));
  const Tensor out_T1D = bmm_(scores_TK.unflatten(0, {-1, 1}), to_(out_TKD, scores_TK.dtype()));
  return to_(out_T1D.flatten(0, 1), out_TKD.dtype());
}

}  // namespace titan::qwen3
