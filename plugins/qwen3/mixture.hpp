#pragma once

#include <cstdint>
#include <optional>

#include "plugins/qwen3/args.hpp"
#include "titan/sdk/scope.hpp"

namespace titan::qwen3 {

using sdk::Frame;
using sdk::Init;
using sdk::Leaf;
using sdk::Module;
using sdk::Scope;
using sdk::Tensor;

// Shapes: B batch, L sequence (local), D model, E experts, K experts of a token, T = B L tokens, M = T K rows: each
// token once for each of its experts.

/// A mixture of experts: a router sends each token to some of them, whose outputs are weighed and summed.
class MixtureOfExperts : public Module {
 public:
  MixtureOfExperts(Scope& s, const ModelArgs& a, std::int64_t layer);
  Tensor forward(Frame& f, const Tensor& x_BLD) const;

 private:
  Tensor weighed_input(const Tensor& rows_MD, const Tensor& scores_TK, const Tensor& order_M) const;
  Tensor combined(const Tensor& out_TKD, const Tensor& scores_TK) const;

  sdk::RouterLeaf router_;
  Leaf experts_;
  std::optional<Leaf> shared_experts_;
  sdk::Op argsort_, floor_divide_, index_select_, bmm_, sum_, to_;
  std::int64_t top_k_;
  bool score_before_experts_;
};

}  // namespace titan::qwen3
